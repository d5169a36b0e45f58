import { expect, test, type APIRequestContext } from '@playwright/test';
import { enter, get, key, look, post, show, watch } from './own';

// The platform's pages as those use them who look after the programs: where events are sent, what could not become data, what
// takes a while, what came in, and who used what.

const mark = Date.now().toString(36);
const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

/** A tracker that sends a place of a time at which it was on no vehicle, so that a dead letter is made of it. */
async function strayed(request: APIRequestContext, unique_id: string) {
	const vehicle = await post(request, '/v1/vehicles', { make: 'Fiat', model: 'Panda', nickname: unique_id });
	const device = await post(request, '/v1/devices', { unique_id });
	const on = `/v1/devices/${device.id}`;
	await post(request, `${on}/assign`, { vehicle_id: vehicle.id, from: ago(60) });
	await post(request, `${on}/unassign`, { at: ago(20) });
	// What reads places may know of the vehicle and not yet of its end: such a place is the vehicle's.
	await expect(async () => {
		await post(request, '/v1/positions', { unique_id, fix_at: ago(10), lat: 30.26, lng: -97.74 });
		await expect.poll(async () => (await get<{ data: unknown[] }>(request, `/v1/dead_letters?unique_id=${unique_id}`)).data.length, { timeout: 5000 }).toBeGreaterThan(0);
	}).toPass();
	return { vehicle: vehicle.id, mend: () => post(request, `${on}/assign`, { vehicle_id: vehicle.id, from: ago(15) }) };
}

test('an endpoint is made, tried and looked into: a delivery that fails says why, and is sent again', async ({ page, request }) => {
	const faults = watch(page);
	await enter(page, '/platform/webhooks');
	await page.getByRole('button', { name: 'New endpoint' }).click();
	// The name leads to this machine, which no event is sent to.
	const address = `https://localhost/hooks/${mark}`;
	await page.getByLabel('Address').fill(address);
	await page.getByLabel('Description').fill(`Hook ${mark}`);
	await page.getByRole('checkbox', { name: 'Fleet' }).check();
	await page.getByRole('button', { name: 'Make the endpoint' }).click();
	await expect(page.getByLabel(`The secret of ${address}`).getByRole('textbox')).toHaveValue(/^whsec_/);
	await page.getByRole('button', { name: 'I have kept it' }).click();
	await look(page, 'webhooks');
	await page.getByRole('link', { name: new RegExp(`Hook ${mark}`) }).click();
	await expect(page.getByRole('heading', { name: address })).toBeVisible();
	await expect(page.getByText('Nothing was sent yet')).toBeVisible();

	await page.getByRole('button', { name: 'Send a test' }).click();
	await expect(page.getByRole('heading', { name: 'The test did not arrive' })).toBeVisible();
	await expect(page.getByText(/no host named localhost/)).toBeVisible();
	await page.getByText('What was sent').click();
	await expect(page.getByText(/^POST \/hooks\//)).toContainText('Webhook-Signature');

	const { id } = await post(request, '/v1/vehicles', { make: 'Fiat', model: 'Panda', nickname: `Told ${mark}` });
	const delivery = page.getByRole('listitem').filter({ hasText: 'vehicle.created' });
	await expect(async () => {
		await page.getByRole('button', { name: 'Look again' }).click();
		await expect(delivery).toContainText('no host named localhost', { timeout: 2000 });
		await expect(page.getByRole('definition').filter({ hasText: 'no host named localhost' })).toBeVisible({ timeout: 2000 });
	}).toPass();
	await delivery.getByRole('button', { name: 'Attempts' }).click();
	await expect(page).toHaveURL(/delivery=/);
	await delivery.getByText('What is sent').click();
	await expect(delivery.getByText(id).first()).toBeVisible();
	await delivery.getByText(/^1\. /).click();
	await expect(delivery.getByText(/^POST \/hooks\//)).toBeVisible();
	await look(page, 'webhook');
	await delivery.getByRole('button', { name: 'Send again' }).click();
	await expect(page.getByRole('status').filter({ hasText: 'It is sent again' })).toBeVisible();

	// Those that succeeded are none of these, and an endpoint that is paused hears of nothing.
	await page.getByLabel('Status').selectOption('succeeded');
	await expect(page).toHaveURL(/status=succeeded/);
	await expect(delivery).toHaveCount(0);
	await page.getByRole('button', { name: 'Pause' }).click();
	await expect(page.getByText('Paused', { exact: true })).toBeVisible();
	await page.getByRole('button', { name: 'Remove' }).click();
	await page.getByRole('button', { name: 'Remove' }).last().click();
	await expect(page.getByRole('heading', { name: 'Webhooks' })).toBeVisible();
	await expect(page.getByRole('link', { name: new RegExp(`Hook ${mark}`) })).toHaveCount(0);
	expect(faults).toEqual([]);
});

test('what could not become data is found by its reason and tracker, and is data once the reason is mended', async ({ page, request }) => {
	const faults = watch(page);
	const { vehicle, mend } = await strayed(request, `letters-${mark}`);
	await enter(page, '/platform/letters');
	await page.getByLabel('Reason').selectOption('Device unassigned');
	await page.getByLabel('Identifier of a tracker').fill(`letters-${mark}`);
	await expect(page).toHaveURL(new RegExp(`reason=device_unassigned.*device=letters-${mark}`));
	const letter = page.locator('main').getByRole('listitem').filter({ hasText: `letters-${mark}` }).first();
	await letter.getByRole('button', { name: 'Show' }).click();
	await expect(letter.locator('pre')).toContainText('30.26');
	await look(page, 'letters');
	const places = async () => (await get<{ data: unknown[] }>(request, `/v1/vehicles/${vehicle}/positions`)).data.length;
	const before = await places();
	await mend();
	// What is sent again before it is known to be mended comes back as another letter.
	await expect(async () => {
		await show(page, '/platform/jobs');
		await show(page, `/platform/letters?reason=device_unassigned&device=letters-${mark}`);
		await letter.getByRole('button', { name: 'Send again' }).click();
		await expect(letter.getByRole('button', { name: 'It is sent again' })).toBeDisabled();
		await expect.poll(places, { timeout: 5000 }).toBeGreaterThan(before);
	}).toPass();
	await page.getByLabel('Reason').selectOption('Empty');
	await expect(page.getByText('No dead letters')).toBeVisible();
	expect(faults).toEqual([]);
});

test('a job tells how far it is until it is done, and which rows it refused', async ({ page, request }) => {
	const faults = watch(page);
	await enter(page, '/platform/jobs?kind=import');
	// Checked alone, as a thousand vehicles would be in the way of other tests.
	const rows = Array.from({ length: 1000 }, (_, i) => `Fiat,Panda,Job ${i} ${mark},${i % 8 ? 2020 : 'soon'}`);
	const response = await request.post('/v1/imports?kind=vehicles&format=csv&mode=create&dry_run=true', {
		headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'text/csv' }, data: `make,model,nickname,year\n${rows.join('\n')}\n`,
	});
	expect(response.ok(), await response.text()).toBe(true);
	await page.getByRole('button', { name: 'Look again' }).click();
	const job = page.locator('main .list > li').first(); // the newest
	await expect(job).toContainText('1,000 of 1,000'); // by itself
	await expect(job).toContainText('check alone');
	await expect(job).toContainText('875 well, 125 refused');
	await job.getByRole('button', { name: 'Refused rows' }).click();
	await expect(job.getByRole('table')).toContainText('/year');
	await expect(job).toContainText('100 of 125');
	await look(page, 'jobs');
	await job.getByRole('button', { name: 'Show more' }).click();
	await expect(job.getByRole('table').locator('tbody tr')).toHaveCount(125);
	await expect(job.getByRole('button', { name: 'Show more' })).toHaveCount(0);
	await page.getByLabel('Kind').selectOption('Export');
	await expect(page).toHaveURL(/kind=export/);
	await expect(job.filter({ hasText: 'Import' })).toHaveCount(0);
	expect(faults).toEqual([]);
});

/** How far two colours are apart, as WCAG 2.2 has it. */
function contrast(a: string, b: string) {
	const light = [a, b].map((colour) => {
		const [red = NaN, green = NaN, blue = NaN] = (colour.match(/\d+/g) ?? []).map((n) => (Number(n) / 255 <= 0.04045 ? Number(n) / 255 / 12.92 : ((Number(n) / 255 + 0.055) / 1.055) ** 2.4));
		return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
	});
	return Math.max(...light) / Math.min(...light);
}

test('usage counts what came in by the day, and what was refused leads to the letters', async ({ page, request }) => {
	const faults = watch(page);
	await strayed(request, `usage-${mark}`);
	const since = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10); // midnight may have passed
	await expect.poll(async () => (await get<{ data: { refused: object }[] }>(request, `/v1/usage?from=${since}T00:00:00Z`)).data.some((day) => 'device_unassigned' in day.refused)).toBe(true);
	await enter(page, '/platform/usage');
	await expect(page.getByRole('group', { name: 'Positions stored' })).toBeVisible();
	await look(page, 'usage');
	const axis = await page.locator('figure').filter({ has: page.locator('rect.s1') }).first().locator('svg text[text-anchor=end]').allTextContents();
	expect(new Set(axis).size, axis.join()).toBe(axis.length);
	for (const colorScheme of ['dark', 'light'] as const) {
		await page.emulateMedia({ colorScheme });
		const fill = (of: string, what: 'fill' | 'backgroundColor') => page.locator(of).first().evaluate((e, name) => getComputedStyle(e)[name], what);
		const grounds = await page.locator('figure').first().evaluate((e) => { // of all that it stands in, from near to far
			const seen = [];
			for (let at: Element | null = e; at; at = at.parentElement) seen.push(getComputedStyle(at).backgroundColor);
			return seen;
		});
		const ground = grounds.find((colour) => !/rgba\(.*, 0\)/.test(colour)) ?? '';
		for (const of of ['rect.s0', 'rect.s1']) expect(contrast(await fill(of, 'fill'), ground), `${of} ${colorScheme}`).toBeGreaterThanOrEqual(3);
		expect(await fill('.dot.s1', 'backgroundColor')).toBe(await fill('rect.s1', 'fill'));
	}
	await page.getByLabel('Period').selectOption('The last 7 days');
	await expect(page).toHaveURL(/days=7/);
	await page.getByRole('link', { name: /Device unassigned: [1-9]/ }).first().click();
	await expect(page.getByRole('heading', { name: 'Dead letters' })).toBeVisible();
	expect(faults).toEqual([]);
});

test('the audit says which key was made, and used from where', async ({ page, request }) => {
	const faults = watch(page);
	const made = await post<{ id: string; key: string }>(request, '/v1/api_keys', { name: `Audited ${mark}`, scopes: ['vehicles:read'] });
	expect((await request.get('/v1/vehicles', { headers: { Authorization: `Bearer ${made.key}` } })).ok()).toBe(true);
	await expect.poll(async () => (await get<{ data: unknown[] }>(request, `/v1/credential_audit?credential_id=${made.id}&act=used`)).data.length).toBe(1);
	await enter(page, '/platform/audit');
	await page.getByLabel('What happened').selectOption('Created');
	const acts = page.locator('main .list > li');
	await acts.filter({ hasText: /^Created/ }).getByRole('button', { name: `Audited ${mark}` }).click(); // all of this key
	await expect(page).toHaveURL(new RegExp(`of=${made.id}`));
	await expect(acts).toHaveText([/^Created/]);
	await page.getByLabel('What happened').selectOption('');
	await expect(acts.filter({ hasText: 'Used' })).toHaveCount(1);
	await look(page, 'audit');
	await page.getByLabel('From address').fill('192.0.2.1');
	await expect(page.getByText('Nothing was done with credentials')).toBeVisible();
	expect(faults).toEqual([]);
});

test('a key that reads bookings and vehicles sees them, and nothing that it may not do or go to', async ({ page, request }) => {
	const faults = watch(page);
	const van = (await post(request, '/v1/vehicles', { make: 'Fiat', model: 'Ducato', nickname: `Reader ${mark}`, license_plate: `RD ${mark}`, daily_rate: { amount: 4000, currency: 'USD' } })).id;
	const at = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
	const { id, number } = await post<{ id: string; number: string }>(request, '/v1/bookings', { vehicle_id: van, pickup_at: at(1), return_at: at(3) });
	const { key: theirs } = await post<{ key: string }>(request, '/v1/api_keys', { name: `Reader ${mark}`, scopes: ['bookings:read', 'vehicles:read'] });
	await page.goto('/bookings?view=list');
	await page.getByLabel('API key', { exact: true }).fill(theirs);
	await page.getByRole('button', { name: 'Use the key' }).click();
	const row = page.getByRole('link').filter({ hasText: number });
	await expect(row).toContainText(`RD ${mark}`);
	await look(page, 'reader');
	expect(faults).toEqual([]); // nothing was asked for that it may not have
	const places = page.getByRole('navigation', { name: 'Motorpool' }).getByRole('link');
	await expect(places).toHaveText(['Map', 'Bookings', 'Vehicles', 'Money', 'Reference']);
	await expect(page.getByRole('link', { name: 'New booking' })).toBeHidden();
	await page.getByRole('button', { name: 'Calendar' }).click();
	await expect(page.getByRole('link').filter({ hasText: number })).toBeVisible();
	await page.waitForTimeout(1000); // what was refused would be told by now
	await expect(page.getByRole('alert')).toHaveCount(0);
	await expect(page.getByText('Not live')).toHaveCount(0);
	expect(faults).toEqual([]);
	await show(page, `/bookings/${id}`);
	await expect(page.getByRole('heading', { name: number })).toBeVisible();
	for (const act of ['Confirm', 'Move', 'Take a payment', 'Cancel']) await expect(page.getByRole('button', { name: act, exact: true })).toBeHidden();
	await show(page, `/vehicles/${van}`);
	await expect(page.getByRole('link', { name: 'Edit' })).toBeHidden();
	expect(faults.filter((fault) => !fault.includes('403'))).toEqual([]);
});
