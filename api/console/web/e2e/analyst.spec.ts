import { readFile } from 'node:fs/promises';
import { expect, test, type APIRequestContext, type Page } from '@playwright/test';
import { rowsOf } from '../src/lib/csv';
import { accessible, enter, get, key, otherKey, post, show, watch } from './own';

// An analyst's day on a real server, in a real browser: from what each vehicle brought down to the entries, and the file
// that says the same. Then the platform, with another account in the next tab, and names that want to be more than text.

const hostile = '<img src=x onerror=alert(1)>';
const day = 86_400_000;
const mark = Date.now().toString(36);
const on = (at: number) => new Date(at).toISOString().slice(0, 10);
const usd = (amount: number) => ({ amount, currency: 'USD' });

interface Books {
	car: string;
	booking: string;
	toll: string;
	plan: string;
	from: string;
	until: string;
}
let books: Books | undefined;

/** A rental that is over, of a vehicle that cost something. Made once. */
async function open(request: APIRequestContext): Promise<Books> {
	if (books) return books;
	const made = async (path: string, data: unknown) => (await post(request, path, data)).id;
	// The dear day of the week is today's, as the rental took place on three other days of it.
	const dear = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'][new Date().getUTCDay()];
	const plan = await made('/v1/rate_plans', { name: `Yearly ${mark} ${hostile}`, currency: 'USD', daily_rate: usd(6000),
		seasons: [{ name: hostile, from: on(Date.now() + 20 * day), until: on(Date.now() + 40 * day), factor_bp: 15_000 }], weekday_factors: [{ day: dear, factor_bp: 12_000 }] });
	const kind = await made('/v1/vehicle_classes', { name: `Estate ${mark}`, code: `E${mark}`, rate_plan_id: plan });
	const car = await made('/v1/vehicles', { make: 'Skoda', model: 'Octavia', nickname: `Ledger ${mark}`, license_plate: `AN ${mark}`, vehicle_class_id: kind, in_service_on: on(Date.now() - 30 * day) });
	await made('/v1/vehicles', { make: hostile, model: hostile, nickname: `${hostile} ${mark}`, vehicle_class_id: kind, in_service_on: on(Date.now() - 30 * day) });
	const customer = await made('/v1/customers', { display_name: `${hostile} ${mark}`, licence: { number: 'D7654321', country: 'US', region: 'TX', expires_on: '2031-01-01' } });
	const at = Math.floor(Date.now() / day) * day + 9 * 3_600_000;
	const booking = await made('/v1/bookings', { vehicle_id: car, customer_id: customer, confirm: true, backdated: true, notes: hostile,
		pickup_at: new Date(at - 6 * day).toISOString(), return_at: new Date(at - 3 * day).toISOString() });
	await post(request, `/v1/bookings/${booking}/pickup`, { at: new Date(at - 6 * day).toISOString(), mileage_mi: 1000 });
	await post(request, `/v1/bookings/${booking}/return`, { at: new Date(at - 3 * day).toISOString(), mileage_mi: 1200 });
	await made('/v1/expenses', { category: 'fuel', status: 'posted', vehicle_id: car, amount: usd(2550), incurred_on: on(at - 4 * day), description: hostile });
	await made('/v1/expenses', { category: 'insurance', status: 'posted', vehicle_id: car, amount: usd(1200), incurred_on: on(at - 5 * day) });
	const toll = await made('/v1/tolls', { kind: 'toll', plate: `AN ${mark}`, amount: usd(450), agency: `${hostile} ${mark}`, occurred_at: new Date(at - 4 * day).toISOString() });
	books = { car, booking, toll, plan, from: on(at - 10 * day), until: on(at) };
	// Facts follow what is written within a minute.
	await expect.poll(async () => {
		const view = await get<{ rows: { key: string; figures: Record<string, number> }[] }>(request, `/v1/reports/profitability?group_by=vehicle&currency=USD&from=${books?.from}&until=${books?.until}`);
		const row = view.rows.find((r) => r.key === car);
		return [row?.figures['net_profit'], row?.figures['fixed_cost']];
	}, { timeout: 240_000, intervals: [2000] }).toEqual([18_000 - 2550 - 1200 - 450, 1200]);
	return books;
}

const money = (text: string) => Math.round(Number(text.replace(/[^0-9.-]/g, '')) * 100);

test('what was on the books a year ago, and the change, lead to the report of the same period', async ({ page, request }) => {
	const faults = watch(page);
	await open(request);
	const year = new Date().getFullYear();
	await enter(page, `/money?from=${year}-01-01&until=${year}-12-31&compare=previous_year`);
	const ago = page.locator('a[href*="figure=revenue_last_year"]');
	const shown = await ago.innerText();
	await ago.click();
	await expect(page).toHaveURL(new RegExp(`/money/reports/pace\\?from=${year}-01-01&until=${year}-12-31.*figure=revenue_last_year`));
	await expect(page.getByRole('row').last()).toContainText(shown); // its totals
	await page.goBack();
	await page.locator('a[href^="/money/reports/revenue?"][href$="figure=revenue"]').click();
	await expect(page).toHaveURL(new RegExp(`/money/reports/revenue\\?from=${year}-01-01&until=${year}-12-31&compare=previous_year.*figure=revenue`));
	expect(faults).toEqual([]);
});

test("an analyst's day: profit by vehicle down to the entries, and the file that says the same", async ({ page, request }) => {
	test.setTimeout(420_000); // what reports are made of follows within a minute, and later where the machine is busy
	const faults = watch(page);
	const { car, booking, from, until } = await open(request);
	await enter(page, `/money?from=${from}&until=${until}`);
	const row = page.getByRole('row').filter({ hasText: `Ledger ${mark}` });
	await expect(row).toContainText('$138.00');
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath('money.png'), fullPage: true });

	// The figure leads to what it is made of, which comes to the same.
	await row.getByRole('link', { name: '$138.00' }).click();
	await expect(page.getByRole('heading', { name: 'Entries' })).toBeFocused();
	expect(new URL(page.url()).searchParams.get('vehicle_id')).toBe(car);
	await expect(page.locator('[data-sum]')).toHaveText('$138.00');
	await expect(page.locator('tbody tr').first()).toBeVisible();
	const amounts = await page.locator('tbody td:last-child').allTextContents();
	expect(amounts.length).toBeGreaterThan(4);
	expect(amounts.map(money).reduce((sum, n) => sum + n, 0)).toBe(13_800);
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath('entries.png') });
	await page.getByRole('row').filter({ hasText: 'Booking' }).getByRole('rowheader').getByRole('link').first().click();
	await expect(page.getByRole('heading', { name: 'Transaction' })).toBeVisible();
	const [debit, credit] = [page.locator('tfoot td').nth(2), page.locator('tfoot td').nth(3)];
	expect(await debit.textContent()).toBe(await credit.textContent());
	await accessible(page);
	await page.getByRole('link', { name: /^\w*-?\d+$/ }).first().click();
	await expect(page).toHaveURL(new RegExp(`/bookings/${booking}$`));
	await expect(page.getByText(hostile).first()).toBeVisible();

	// The report says the same, and so does its file.
	await show(page, `/money/reports/profitability?from=${from}&until=${until}&group_by=vehicle`);
	await page.getByRole('button', { name: 'Net profit', exact: true }).click();
	await expect(page).toHaveURL(/sort=-net_profit/);
	const shown = money((await page.locator('[data-total=net_profit]').textContent()) ?? '');
	const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV' }).click()]);
	const rows = rowsOf(await readFile(await file.path(), 'utf8'));
	const column = rows[0]?.indexOf('Net profit') ?? -1;
	expect(rows.length).toBeGreaterThan(2);
	expect(rows.slice(1).map((cells) => money(cells[column] ?? '')).reduce((sum, n) => sum + n, 0)).toBe(shown);
	for (const [name, begins] of [['XLSX', 'PK'], ['Parquet', 'PAR1']] as const) {
		const [other] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()]);
		expect((await readFile(await other.path())).subarray(0, begins.length).toString('latin1')).toBe(begins);
	}
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath('report.png'), fullPage: true });

	// Period, comparison and grouping are in the address, and a report is kept with them.
	await page.getByLabel('Compare with').selectOption('previous_period');
	await page.getByLabel('Group by').selectOption('month');
	await expect(page).toHaveURL(/compare=previous_period/);
	await expect(page).toHaveURL(/group_by=month/);
	// What it is compared with leads down to its own entries, too.
	await expect(page.getByText(/beside/)).toBeVisible();
	const earlier = new URL((await page.locator('tfoot a.soft').first().getAttribute('href')) ?? '', page.url());
	expect(earlier.pathname).toBe('/money/entries');
	expect((earlier.searchParams.get('until') ?? '') < from, earlier.search).toBe(true);
	await page.getByRole('button', { name: 'Keep this report' }).click();
	await page.getByLabel('Name').fill(`${hostile} ${mark}`);
	await page.getByLabel('File').selectOption('csv');
	await page.getByRole('button', { name: 'Keep this report' }).last().click();
	await page.getByRole('status').getByRole('link', { name: 'Saved reports' }).click();
	const kept = page.getByRole('listitem').filter({ hasText: mark });
	const [again] = await Promise.all([page.waitForEvent('download'), kept.getByRole('button', { name: 'Make it now' }).click()]);
	expect((await readFile(await again.path(), 'utf8')).split('\n').length).toBeGreaterThan(1);
	await accessible(page);
	expect(faults).toEqual([]);
});

test('a toll is charged to who had the vehicle, and a plan shows its prices over a year', async ({ page, request }) => {
	const faults = watch(page);
	const { toll, plan } = await open(request);
	await enter(page, '/money/tolls');
	await page.getByRole('link', { name: new RegExp(mark) }).click();
	await expect(page).toHaveURL(new RegExp(toll));
	await page.getByRole('button', { name: 'Charge the customer' }).click();
	await expect(page.getByRole('button', { name: 'The customer has paid' })).toBeVisible();
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath('toll.png') });

	await show(page, `/money/rates/${plan}`);
	await expect(page.getByText(/From \$60\.00 to \$108\.00 a day/)).toBeVisible(); // a dear day of the season is the dearest
	expect(await page.locator('.year td .num').count()).toBe(365);
	await page.getByLabel('Length of the rental').selectOption('7');
	await expect(page).toHaveURL(/days=7/);
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath('rates.png'), fullPage: true });
	await page.getByRole('link', { name: 'Edit' }).click();
	await page.getByLabel(/^Daily rate/).fill('70');
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(page.getByText(/From \$70\.00 to \$126\.00 a day/)).toBeVisible();
	expect(faults).toEqual([]);
});

test('a key is made, works, and is revoked; a table becomes records', async ({ page, request }) => {
	const faults = watch(page);
	await enter(page, '/platform');
	await page.getByRole('button', { name: 'New key' }).click();
	await page.getByLabel('Name').fill(`${hostile} ${mark}`);
	await page.getByRole('checkbox', { name: 'vehicles:read' }).check();
	await accessible(page);
	await page.getByRole('button', { name: 'Make the key' }).click();
	const secret = await page.getByRole('textbox', { name: /^The key/ }).inputValue();
	expect((await request.get('/v1/vehicles', { headers: { Authorization: `Bearer ${secret}` } })).status()).toBe(200);
	await page.screenshot({ path: test.info().outputPath('key.png') });
	await page.getByRole('button', { name: 'I have kept it' }).click();
	expect(await page.content()).not.toContain(secret);
	const line = page.getByRole('listitem').filter({ hasText: mark });
	await line.getByRole('button', { name: 'Revoke' }).click();
	await line.getByRole('button', { name: 'Revoke' }).click();
	await expect(line).toHaveCount(0);
	await expect.poll(async () => (await request.get('/v1/vehicles', { headers: { Authorization: `Bearer ${secret}` } })).status(), { timeout: 15_000 }).toBe(401);

	await show(page, '/platform/imports');
	await page.getByLabel('File (CSV)').setInputFiles({ name: 'fleet.csv', mimeType: 'text/csv', buffer: Buffer.from(
		`Make;Model;Kennzeichen;Nickname;Year\r\nVolvo;V60;IM1 ${mark};Import one ${mark};2023\r\nVolvo;V60;IM2 ${mark};"${hostile}; ""two"" ${mark}";2022\r\nVolvo;V60;IM3 ${mark};bad ${mark};soon\r\n`) });
	await expect(page.getByLabel('Field of column Kennzeichen')).toHaveValue('license_plate');
	await expect(page.getByRole('table')).toContainText(`${hostile}; "two" ${mark}`);
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath('import.png'), fullPage: true });
	await page.getByRole('button', { name: 'Check, without writing' }).click();
	await expect(page.getByText('2 well, 1 refused')).toBeVisible();
	await expect(page.getByRole('region', { name: 'Refused rows' })).toContainText('/year');
	await Promise.all([
		page.waitForResponse((r) => r.request().method() === 'POST' && r.url().includes('/v1/imports')), // of which the page then tells
		page.getByRole('button', { name: 'Import 3 rows' }).click(),
	]);
	await expect(page.getByText('2 well, 1 refused')).toBeVisible();
	await show(page, `/vehicles?q=${mark}`);
	await expect(page.getByText(`Import one ${mark}`)).toBeVisible();
	await expect(page.getByText(`${hostile}; "two" ${mark}`)).toBeVisible();
	expect(faults).toEqual([]);
});

test('two accounts in two tabs: nothing of one is in the other', async ({ context, request }) => {
	test.setTimeout(300_000);
	await open(request);
	const theirs = `other-${mark}`;
	const van = await post(request, '/v1/vehicles', { make: 'Ford', model: 'Transit', nickname: theirs, license_plate: `OT ${mark}` }, otherKey);
	await post(request, '/v1/customers', { display_name: theirs }, otherKey);
	await post(request, '/v1/tolls', { kind: 'toll', plate: 'XX 1', amount: usd(100), agency: theirs, occurred_at: new Date(Date.now() - day).toISOString() }, otherKey);
	await post(request, '/v1/expenses', { category: 'fuel', status: 'posted', vehicle_id: van.id, amount: usd(777), incurred_on: on(Date.now()), description: theirs }, otherKey);
	await post(request, '/v1/vehicle_classes', { name: theirs, code: `O${mark}` }, otherKey);
	await post(request, '/v1/locations', { name: theirs }, otherKey);
	await post(request, '/v1/devices', { unique_id: theirs }, otherKey);
	await post(request, '/v1/maintenance/issues', { vehicle_id: van.id, description: theirs }, otherKey);
	await post(request, '/v1/maintenance/tasks', { name: theirs }, otherKey);
	await post(request, '/v1/alert_rules', { name: theirs, kind: 'speeding', threshold_mph: 60 }, otherKey);
	await post(request, '/v1/geofences', { name: theirs, geometry: { type: 'Circle', center: [-97, 30], radius_m: 500 } }, otherKey);
	const places = ['/map', '/vehicles', '/vehicles/classes', '/vehicles/locations', '/vehicles/devices', '/customers', '/bookings', '/bookings?view=list', '/alerts', '/rules', '/fences', '/heat', '/shares',
		'/maintenance', '/maintenance/issues', '/maintenance/inspections', '/maintenance/tasks', '/maintenance/schedules',
		'/money', '/money/entries', '/money/tolls', '/money/expenses', '/money/rates', '/money/papers', '/money/reports',
		'/platform', '/platform/webhooks', '/platform/imports', '/platform/jobs', '/platform/letters', '/platform/people', '/platform/clients', '/platform/audit', '/platform/usage'];
	const tab = async (as: string) => {
		const page = await context.newPage();
		const answers: Promise<string>[] = [];
		page.on('response', (r) => {
			if (/\/v1\//.test(r.url()) && !/stream/.test(r.url())) answers.push(r.text().catch(() => ''));
		});
		await enter(page, '/map', as);
		return { page, answers, seen: [] as string[] };
	};
	const [one, two] = [await tab(key), await tab(otherKey)];
	for (const place of places) {
		await Promise.all([one, two].map(async (t) => {
			await show(t.page, place);
			t.seen.push(await t.page.content());
		}));
	}
	const all = async (t: { answers: Promise<string>[]; seen: string[] }) => [...t.seen, ...(await Promise.all(t.answers))].join('\n');
	const [ours, others] = [await all(one), await all(two)];
	expect(ours).toContain(`Ledger ${mark}`);
	for (const place of ['/vehicles/classes', '/vehicles/locations', '/vehicles/devices', '/customers', '/rules', '/fences', '/maintenance/issues', '/maintenance/tasks', '/money/expenses'])
		expect(two.seen[places.indexOf(place)], place).toContain(theirs); // or nothing could have been found in the other tab
	expect(ours).not.toContain(theirs);
	expect(others).not.toContain(`Ledger ${mark}`);
	expect(others).not.toContain(hostile);
	// An address of the one shows nothing in the tab of the other.
	await show(two.page, `/vehicles/${books?.car}`).catch(() => {}); // it may have no heading
	await expect(two.page.getByRole('alert')).toBeVisible();
	expect(await two.page.content()).not.toContain(`Ledger ${mark}`);
});

test('two people in two tabs of one browser: the page of the first begins anew', async ({ context, request }) => {
	const first = `first-${mark}`, second = `second-${mark}`;
	await post(request, '/v1/customers', { display_name: first });
	await post(request, '/v1/customers', { display_name: second }, otherKey);
	const comes = async (name: string, as: string) => {
		const { invitation_url } = await post<{ invitation_url: string }>(request, '/v1/users', { name, email: `${name}@example.com`, role: 'owner' }, as);
		const page = await context.newPage();
		const { pathname, search } = new URL(invitation_url);
		await page.goto(pathname + search);
		for (const field of await page.locator('input[type=password]').all()) await field.fill('a horse in the rain');
		await page.locator('form button').first().click();
		await page.goto(`/customers?q=${mark}`);
		await expect(page.getByText(name)).toBeVisible();
		return page;
	};
	const one = await comes(first, key);
	const anew = one.waitForEvent('load', { timeout: 60_000 });
	await comes(second, otherKey);
	// Whatever the page asks next has it begin anew: what is pressed, or what it asks by itself.
	one.getByRole('link', { name: first }).click().catch(() => undefined); // the page may have gone already
	await anew;
	await expect(one.locator('header nav')).toBeVisible(); // of the second's account, which has no such customer
	await expect(one.getByText(first)).toHaveCount(0);
	await show(one, `/customers?q=${mark}`);
	await expect(one.getByText(second)).toBeVisible();
	expect(await one.content()).not.toContain(first);
});

async function readable(page: Page, name: string) {
	expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), name).toBe(true);
	await accessible(page);
}

for (const theme of ['light', 'dark'] as const) {
	for (const [size, viewport] of Object.entries({ desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } })) {
		test(`the pages of money and of the platform can be read: ${theme}, ${size}`, async ({ browser, request }) => {
			test.setTimeout(300_000);
			const { car, toll, plan, from, until } = await open(request);
			const entries = await get<{ data: { transaction_id: string }[] }>(request, `/v1/ledger/entries?vehicle_id=${car}&per_page=1`);
			const context = await browser.newContext({ colorScheme: theme, viewport, locale: size === 'desk' ? 'de-DE' : 'es-ES' });
			const page = await context.newPage();
			const faults = watch(page);
			await page.goto('/map');
			await page.locator('input[type=password]').fill(key);
			await page.locator('form button').click();
			await expect(page.locator('header nav')).toBeVisible();
			const pages = {
				money: `/money?from=${from}&until=${until}&compare=previous_period`, entries: `/money/entries?vehicle_id=${car}`, transaction: `/money/transactions/${entries.data[0]?.transaction_id}`,
				reports: '/money/reports', report: `/money/reports/profitability?from=${from}&until=${until}&group_by=vehicle`, utilization: `/money/reports/utilization?from=${from}&until=${until}&group_by=day`,
				papers: '/money/papers', tolls: '/money/tolls', toll: `/money/tolls/${toll}`, 'toll-new': '/money/tolls/new', rates: '/money/rates', rate: `/money/rates/${plan}`, 'rate-edit': `/money/rates/${plan}/edit`,
				vehicle: `/vehicles/${car}`, keys: '/platform', webhooks: '/platform/webhooks', imports: '/platform/imports', jobs: '/platform/jobs', letters: '/platform/letters', usage: '/platform/usage',
				people: '/platform/people', clients: '/platform/clients', audit: '/platform/audit',
			};
			for (const [name, at] of Object.entries(pages)) {
				await page.evaluate((to) => {
					history.pushState(null, '', to);
					dispatchEvent(new PopStateEvent('popstate'));
				}, at);
				await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
				await page.waitForTimeout(500);
				await expect(page.getByText(/^(Lädt …|Cargando…)$/)).toHaveCount(0);
				await page.screenshot({ path: test.info().outputPath(`${name}.png`) });
				await readable(page, name);
			}
			expect(faults).toEqual([]);
			await context.close();
		});
	}
}
