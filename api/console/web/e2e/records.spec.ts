import { expect, test } from '@playwright/test';
import { accessible, enter, get, key, look, post, show, watch } from './own';

// What is due of vehicles, what was changed of a record, and what is sent again because its answer was lost.

const mark = Date.now().toString(36);
const usd = (amount: number) => ({ amount, currency: 'USD' });

test("a workshop's day: a task and its schedule are made, what is due is put off, skipped, and done by a work order", async ({ page, request }) => {
	test.setTimeout(300_000); // what is due follows within a minute
	const faults = watch(page);
	const van = (await post(request, '/v1/vehicles', { make: 'Fiat', model: 'Ducato', nickname: `Anvil ${mark}` })).id;
	await post(request, `/v1/vehicles/${van}/meter_readings`, { kind: 'odometer_mi', value: 12_000 });
	const save = () => page.getByRole('button', { name: 'Save' }).click();
	const tabs = page.getByRole('navigation', { name: 'Maintenance' });
	/** Comes to a page again, which asks anew, until there are so many of something. */
	const until = (at: string, many: () => Promise<number>) => expect.poll(async () => {
		await show(page, '/alerts');
		await show(page, at);
		return many();
	}, { timeout: 150_000, intervals: [3000] }).toBe(1);

	await enter(page, '/maintenance');
	await tabs.getByRole('link', { name: 'Service tasks' }).click();
	await page.getByRole('link', { name: 'New service task' }).first().click();
	await page.getByLabel('Name', { exact: true }).fill(`Belts ${mark}`);
	await page.getByLabel('Category').fill('Engine');
	await page.getByLabel('Parts').fill('Timing belt\nTensioner');
	await page.getByLabel(/^Distance/).fill('5000');
	await look(page, 'task');
	await save();
	const task = page.getByRole('link').filter({ hasText: `Belts ${mark}` });
	await expect(task).toContainText('every 5,000 mi');
	await look(page, 'tasks');
	await task.click();
	await page.getByLabel('Months').fill('12');
	await save();
	await expect(task).toContainText('every 5,000 mi or every 12 months');
	const found = await get<{ data: { id: string; parts: string[]; every_months: number }[] }>(request, `/v1/maintenance/tasks?q=${mark}`);
	expect(found.data[0]).toMatchObject({ parts: ['Timing belt', 'Tensioner'], every_mi: 5000, every_months: 12 });

	await task.click();
	await page.getByRole('link', { name: 'New schedule' }).click();
	await expect(page.getByText('Empty for that of the task: every 5,000 mi or every 12 months.')).toBeVisible();
	await page.getByLabel('Vehicle', { exact: true }).selectOption(`Anvil ${mark}`);
	await page.getByLabel('Last done on').fill('2026-01-10');
	await page.getByLabel('Last done at (mi)').fill('6000');
	await page.getByLabel('Told of again, days before').fill('30, 4000');
	await save();
	await expect(page.getByLabel('Told of again, days before')).toHaveAttribute('aria-invalid', 'true');
	await page.getByLabel('Told of again, days before').fill('30, 7');
	await look(page, 'schedule');
	await save();
	const schedule = page.getByRole('link').filter({ hasText: `Belts ${mark}` });
	await expect(schedule).toContainText(`Anvil ${mark}`);
	await look(page, 'schedules');

	// Whoever has a schedule finds what is due of it, and the way back.
	await schedule.click();
	const line = page.getByRole('listitem').filter({ hasText: `Anvil ${mark}` });
	await until(new URL(page.url()).pathname, () => line.count());
	await page.getByLabel(/^Distance/).fill('5500');
	await page.getByLabel('Paused: nothing is told of').check();
	await save();
	await expect(page.getByRole('heading', { name: 'Schedules' })).toBeVisible();
	await expect(schedule).toContainText('every 5,500 mi');
	await expect(schedule).toContainText('Paused');
	await schedule.click();
	await page.getByLabel('Paused: nothing is told of').uncheck();
	await save();
	await expect(page.getByRole('heading', { name: 'Schedules' })).toBeVisible();
	await expect(schedule).not.toContainText('Paused');

	await tabs.getByRole('link', { name: 'Due and orders' }).click();
	await until('/maintenance', () => line.getByText(/^(Overdue|Due)$/).count());
	await line.getByRole('button', { name: /^Put off/ }).click();
	await page.getByLabel('Quiet until').fill('2031-05-02');
	await look(page, 'due');
	await page.getByRole('button', { name: 'Put off', exact: true }).last().click();
	await expect(line).toContainText('quiet until May 2, 2031');
	await line.getByRole('button', { name: 'Tell of it again' }).click();
	await expect(line).not.toContainText('quiet');

	await line.getByRole('link', { name: 'New work order' }).click();
	await page.getByLabel('What is to be done').fill(`Belts of Anvil ${mark}`);
	await page.getByLabel('Priority').selectOption('High');
	await page.getByLabel('Away from').fill('2031-06-01T08:00');
	await page.getByLabel('Away until').fill('2031-06-01T17:00');
	await look(page, 'new-order');
	await save();
	await expect(page.getByRole('heading', { name: `Belts of Anvil ${mark}` })).toBeVisible();
	await page.getByRole('link', { name: 'Edit' }).click();
	await expect(page.getByLabel(`Belts ${mark}`)).toBeChecked();
	await page.getByLabel('Who does it').fill('Rosa');
	await save();
	await expect(page.getByText('Rosa')).toBeVisible();
	const scheduled = page.getByRole('button', { name: 'Schedule', exact: true });
	if (await scheduled.isVisible()) await scheduled.click();
	await expect(page.getByText('Scheduled', { exact: true })).toBeVisible();
	await page.getByRole('button', { name: 'Add a cost' }).click();
	await page.getByLabel('Description').fill('Wrong belt');
	await page.getByLabel(/^Cost of one/).fill('35');
	await page.getByRole('button', { name: 'Add a cost' }).last().click();
	const cost = page.getByRole('listitem').filter({ hasText: 'Wrong belt' });
	await cost.getByRole('button', { name: 'Remove Wrong belt' }).click();
	await cost.getByRole('button', { name: 'Remove', exact: true }).click();
	await expect(cost).toHaveCount(0);
	await page.getByRole('button', { name: 'Start' }).click();
	await page.getByRole('button', { name: 'Put on hold' }).click();
	await page.getByLabel('Reason').selectOption('Awaiting vendor');
	await look(page, 'order');
	await page.getByRole('button', { name: 'Put on hold' }).last().click();
	await expect(page.getByText('On hold', { exact: true })).toBeVisible();
	await page.getByRole('button', { name: 'Cancel', exact: true }).click();
	await page.getByLabel('Reason').fill('Wrong vehicle');
	await page.getByRole('button', { name: 'Cancel the work order' }).click();
	await expect(page.getByText('Wrong vehicle')).toBeVisible();

	// The order came to nothing, so that it is due again; nobody does it this time, and the next time is told.
	await show(page, '/maintenance');
	await line.getByRole('button', { name: 'Skip this time' }).click();
	await page.getByLabel('Reason').fill('Sold next week');
	await page.getByRole('button', { name: 'Skip this time', exact: true }).last().click();
	await expect(line).toHaveCount(0);
	await until('/maintenance?later=1', () => line.getByText('Upcoming', { exact: true }).count());
	await look(page, 'later');
	await line.getByRole('link', { name: `Anvil ${mark}`, exact: true }).click();
	await expect(page.getByRole('heading', { name: `Anvil ${mark}` })).toBeVisible();
	await page.getByRole('link', { name: `Belts ${mark}` }).click();
	await page.getByRole('button', { name: 'Archive' }).click();
	await page.getByRole('group', { name: 'Archive' }).getByRole('button', { name: 'Archive' }).click();
	await expect(page.getByRole('heading', { name: 'Schedules', exact: true })).toBeVisible();
	expect(faults).toEqual([]);
});

test("what the workshop's forms do not show stays: engine hours of a schedule, an archived task; lines that another one changed", async ({ page, request }) => {
	const faults = watch(page);
	const made = async (path: string, data: unknown) => (await post(request, path, data)).id;
	const van = await made('/v1/vehicles', { make: 'Fiat', model: 'Ducato', nickname: `Keeps ${mark}` });
	const [old, other] = [await made('/v1/maintenance/tasks', { name: `Old ${mark}`, every_days: 90 }), await made('/v1/maintenance/tasks', { name: `Other ${mark}`, every_days: 90 })];
	const schedule = await made('/v1/maintenance/schedules', { task_id: old, vehicle_id: van, anchor: { engine_hours: 300 } });
	const order = await made('/v1/maintenance/work_orders', { vehicle_id: van, title: `Keeps ${mark}`, task_ids: [old] });
	const as = { Authorization: `Bearer ${key}` };
	expect((await request.delete(`/v1/maintenance/tasks/${old}`, { headers: as })).ok()).toBe(true);
	const kept = <T>(path: string) => get<T>(request, path);
	const save = () => page.getByRole('button', { name: 'Save' }).click();

	await enter(page, `/maintenance/schedules/${schedule}`);
	await expect(page.getByLabel('Service task').locator('option:checked')).toHaveText(`Old ${mark}`);
	await page.getByLabel('Told of again, days before').fill('9');
	await save();
	await expect(page.getByRole('heading', { name: 'Schedules' })).toBeVisible();
	expect(await kept(`/v1/maintenance/schedules/${schedule}`)).toMatchObject({ task_id: old, anchor: { engine_hours: 300 }, reminder_offsets_days: [9] });

	await show(page, `/maintenance/${order}/edit`);
	await expect(page.getByLabel(`Old ${mark}`)).toBeChecked();
	await page.getByLabel(`Other ${mark}`).check();
	await save();
	await expect(page).toHaveURL(new RegExp(`/maintenance/${order}$`));
	expect((await kept<{ task_ids: string[] }>(`/v1/maintenance/work_orders/${order}`)).task_ids).toEqual([old, other]);

	// Somebody else adds a cost meanwhile: it is shown, and not written over.
	const theirs = { kind: 'part', quantity: 1, unit_cost: usd(700), description: 'Filter' };
	expect((await request.patch(`/v1/maintenance/work_orders/${order}`, { headers: as, data: { lines: [theirs] } })).ok()).toBe(true);
	const add = page.getByRole('button', { name: 'Add a cost' });
	await add.click();
	await page.getByLabel('Description').fill('Oil');
	await page.getByLabel(/^Cost of one/).fill('35');
	await add.last().click();
	await expect(page.getByRole('alert')).toBeVisible();
	await expect(page.getByRole('listitem').filter({ hasText: 'Filter' })).toBeVisible();
	await add.last().click();
	await expect(page.getByRole('listitem').filter({ hasText: 'Oil' })).toBeVisible();
	expect((await kept<{ lines: { description: string }[] }>(`/v1/maintenance/work_orders/${order}`)).lines.map((l) => l.description)).toEqual(['Filter', 'Oil']);
	expect(faults.filter((fault) => !fault.includes('status of 412'))).toEqual([]);
});

test('what was changed of a record stands on its page: by whom, when, what it was and what it is', async ({ page, browser, request }) => {
	test.setTimeout(240_000);
	const faults = watch(page);
	const made = async (path: string, data: unknown) => (await post(request, path, data)).id;
	const plan = await made('/v1/rate_plans', { name: `History ${mark}`, currency: 'USD', daily_rate: usd(6000) });
	const kind = await made('/v1/vehicle_classes', { name: `History ${mark}`, code: `h${mark}`, rate_plan_id: plan });
	const car = await made('/v1/vehicles', { make: 'Seat', model: 'Ibiza', nickname: `Before ${mark}`, vehicle_class_id: kind, year: 2024, fuel_type: 'gasoline' });
	const change = async (path: string, data: unknown) => {
		const response = await request.patch(path, { headers: { Authorization: `Bearer ${process.env['MOTORPOOL_KEY'] ?? ''}`, 'Content-Type': 'application/merge-patch+json' }, data });
		expect(response.ok(), await response.text()).toBe(true);
	};
	await change(`/v1/vehicles/${car}`, { nickname: `After ${mark}`, tags: ['winter', 'white'], daily_rate: usd(7000), registration_expires_on: '2031-05-01' });
	await change(`/v1/vehicles/${car}`, { tags: ['white'], daily_rate: null, fuel_type: 'diesel', acquisition_cost: usd(2_000_000) });
	await change(`/v1/vehicles/${car}`, { acquisition_cost: usd(1_900_050) });
	for (let seats = 1; seats <= 20; seats++) await change(`/v1/vehicles/${car}`, { seats });

	const history = page.getByRole('listitem').filter({ hasText: /(Changed|Made)/ });
	const open = page.getByRole('button', { name: 'Show', exact: true });
	await enter(page, `/vehicles/${car}`);
	await open.click();
	await expect(page).toHaveURL(/history=1/);
	await expect(history.filter({ hasText: 'Seats' }).first()).toContainText('19');
	await expect(history.filter({ hasText: 'Seats' }).first()).toContainText('20');
	await expect(history.filter({ hasText: 'Diesel' })).toHaveCount(0); // on the next page
	await page.getByRole('button', { name: 'Show more' }).click();
	const last = history.filter({ hasText: 'Diesel' });
	await expect(last.locator('del')).toHaveText(['$70.00', 'Gasoline', 'winter']);
	await expect(last.locator('ins')).toHaveText(['$20,000.00', 'Diesel']);
	await expect(history.filter({ hasText: '$19,000.50' })).toContainText('Acquisition cost');
	await expect(history.filter({ hasText: '$19,000.50' }).locator('del')).toHaveText(['$20,000.00']);
	const first = history.filter({ hasText: `After ${mark}` });
	await expect(first).toContainText(`Before ${mark}`);
	await expect(first).toContainText('May 1, 2031');
	await expect(first).not.toContainText('key_'); // who did it has a name
	await history.last().getByText('With what').click();
	await expect(history.last()).toContainText('2024');
	await expect(history.last()).toContainText(`History ${mark}`); // the class, by its name
	await look(page, 'vehicle');
	await page.getByRole('button', { name: 'Hide' }).click();
	await expect(history).toHaveCount(0);

	const customer = await made('/v1/customers', { first_name: 'Ada', last_name: 'Muster', email: `history.${mark}@example.com`, licence: { number: 'D1234567', country: 'US', region: 'TX', expires_on: '2031-01-01' } });
	await change(`/v1/customers/${customer}`, { licence: { expires_on: '2033-01-01' }, phone: '+12025550143' });
	await show(page, `/customers/${customer}?history=1`);
	const licence = history.filter({ hasText: 'Licence · Expires' });
	await expect(licence).toContainText('what it was and is, a history does not tell');
	await expect(licence).toContainText('+12025550143');
	await look(page, 'customer');

	const at = Math.ceil(Date.now() / 86_400_000) * 86_400_000 + 9 * 3_600_000;
	const booking = await made('/v1/bookings', { vehicle_id: car, customer_id: customer, confirm: true, pickup_at: new Date(at).toISOString(), return_at: new Date(at + 2 * 86_400_000).toISOString() });
	await change(`/v1/bookings/${booking}`, { return_at: new Date(at + 3 * 86_400_000).toISOString(), notes: 'Later' });
	await show(page, `/bookings/${booking}?history=1`);
	await expect(history.filter({ hasText: 'Later' })).toContainText('Rental time: $180.00');
	await expect(history.filter({ hasText: 'Later' }).getByText('Agreed price')).toHaveCount(1);
	await look(page, 'booking');
	expect(faults).toEqual([]);

	// In German it is told in German, and so is what the interface says in English.
	const context = await browser.newContext({ locale: 'de-DE' });
	const german = await context.newPage();
	const found = watch(german);
	await enter(german, `/bookings/${booking}?history=1`);
	const changed = german.getByRole('listitem').filter({ hasText: 'Notizen' }).filter({ hasText: '→' }); // in the history, and not in the timeline
	await expect(changed).toContainText('Rückgabe');
	await expect(changed).toContainText('Miete: 180,00');
	await expect(german.getByRole('listitem').filter({ hasText: /^Geplante Rückgabe .* statt / })).toBeVisible();
	await expect(german.getByRole('listitem').filter({ hasText: 'Rental time' })).toHaveCount(0);
	await show(german, `/vehicles/${car}?history=1`);
	await german.getByRole('button', { name: 'Mehr zeigen' }).click();
	await expect(german.getByRole('listitem').filter({ hasText: 'Anschaffungspreis' }).first()).toContainText('20.000,00');
	await accessible(german);
	await german.screenshot({ path: test.info().outputPath('vehicle-german.png'), fullPage: true });
	expect(found).toEqual([]);
	await context.close();
});

test('what is sent again because its answer was lost is done once: an expense, a deposit, a handover and its damage', async ({ page, request }) => {
	test.setTimeout(240_000);
	const faults = watch(page);
	const made = async (path: string, data: unknown) => (await post(request, path, data)).id;
	const plan = await made('/v1/rate_plans', { name: `Once ${mark}`, currency: 'USD', daily_rate: usd(6000), deposit_amount: usd(20_000) });
	const kind = await made('/v1/vehicle_classes', { name: `Once ${mark}`, code: `o${mark}`, rate_plan_id: plan });
	const car = await made('/v1/vehicles', { make: 'Seat', model: 'Ibiza', nickname: `Once ${mark}`, vehicle_class_id: kind, fuel_type: 'gasoline' });
	const customer = await made('/v1/customers', { first_name: 'Ada', last_name: `Once ${mark}`, licence: { number: 'D1234567', country: 'US', region: 'TX', expires_on: '2031-01-01' } });
	const now = Math.floor(Date.now() / 60_000) * 60_000;
	const booking = await made('/v1/bookings', { vehicle_id: car, customer_id: customer, confirm: true, pickup_at: new Date(now).toISOString(), return_at: new Date(now + 2 * 86_400_000).toISOString() });
	/** Has the server do what is asked next at an address, and the page never hear of it. */
	const lose = (at: string) => page.route(at, async (route) => {
		await route.fetch();
		await route.abort();
	}, { times: 1 });
	const lost = () => expect(page.getByRole('alert').first()).toBeVisible();

	await enter(page, `/money/expenses/new?vehicle=${car}`);
	await page.getByLabel('Kind').selectOption('Tires');
	await page.getByLabel(/^Amount/).fill('99');
	await lose('**/v1/expenses');
	await page.getByRole('button', { name: 'Save' }).click();
	await lost();
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(page.getByRole('heading', { name: 'Tires, $99.00' })).toBeVisible();
	expect((await get<{ data: unknown[] }>(request, `/v1/expenses?vehicle_id=${car}`)).data).toHaveLength(1);

	await show(page, `/bookings/${booking}`);
	await lose('**/deposit/authorize');
	await page.getByRole('button', { name: 'Note the hold' }).click();
	await lost();
	await expect(page.getByText('Authorized', { exact: true })).toBeVisible(); // the page looks whether it was done
	await page.getByRole('button', { name: 'Take it' }).click(); // under a key of its own
	await expect(page.getByText('Captured', { exact: true })).toBeVisible();

	await show(page, `/bookings/${booking}/pickup`);
	await page.getByLabel(/^Odometer/).fill('500');
	await page.getByRole('button', { name: 'Add damage' }).click();
	await page.getByLabel('What is damaged').fill('Scratched door');
	await lose('**/v1/bookings/*/pickup');
	const hand = page.getByRole('button', { name: 'Hand it over' });
	await hand.click();
	await lost();
	await lose('**/v1/bookings/*/damages');
	await hand.click();
	await expect.poll(async () => (await get<{ damages: unknown[] }>(request, `/v1/bookings/${booking}`)).damages.length).toBe(1);
	await lost();
	await hand.click();
	await expect(page.getByRole('heading', { name: /^Booking / })).toBeVisible();
	const kept = await get<{ damages: unknown[]; inspections: unknown[]; status: string }>(request, `/v1/bookings/${booking}`);
	expect(kept).toMatchObject({ status: 'active' });
	expect([kept.damages.length, kept.inspections.length]).toEqual([1, 1]);
	await expect(page.getByText('there at pickup')).toBeVisible(); // though it was written down later, so that it is not charged
	await expect(page.getByRole('button', { name: 'Charge it' })).toHaveCount(0);

	// A block that was lost and then lifted elsewhere is made when its form is opened again, in the same words.
	const blocked = await made('/v1/vehicles', { make: 'Seat', model: 'Ibiza', nickname: `Blocks ${mark}` });
	const blocks = async () => (await get<{ data: { id: string }[] }>(request, `/v1/blocks?vehicle_id=${blocked}`)).data;
	await show(page, `/vehicles/${blocked}`);
	const open = page.getByRole('button', { name: 'Block it' });
	const block = page.getByRole('button', { name: 'Block the vehicle' });
	const fill = async (day: string) => {
		await open.click();
		await page.getByLabel('Blocked until').fill(`2031-${day}T17:00`);
		await page.getByLabel('Blocked from').fill(`2031-${day}T08:00`);
		await page.getByLabel('Reason').fill('Filming');
	};
	await fill('06-01');
	await lose('**/blocks');
	await block.click();
	await lost();
	for (const one of await blocks()) expect((await request.delete(`/v1/blocks/${one.id}`, { headers: { Authorization: `Bearer ${key}` } })).ok()).toBe(true);
	await open.click(); // and shut
	await fill('06-01');
	await block.click();
	await expect(block).toHaveCount(0);
	expect(await blocks()).toHaveLength(1);

	// What was done is done, even if the page cannot show it.
	await page.route(`**/v1/vehicles/${blocked}`, (route) => route.abort(), { times: 1 });
	await fill('06-08');
	await block.click();
	await expect(page.getByRole('alert').first()).toContainText('It was done');
	await expect(block).toHaveCount(0);
	expect(await blocks()).toHaveLength(2);
	expect(faults.filter((fault) => !fault.includes('ERR_FAILED'))).toEqual([]);
});

test('what a business sets up is made once, though the answer was lost and it is sent again', async ({ page, request }) => {
	const faults = watch(page);
	const name = `Twice ${mark}`;
	const forms: [string, string, () => Promise<unknown>][] = [
		['/vehicles/classes/new', '/v1/vehicle_classes', async () => {
			await page.getByLabel('Name', { exact: true }).fill(name);
			await page.getByLabel('Code').fill(`t${mark}`);
		}],
		['/vehicles/locations/new', '/v1/locations', () => page.getByLabel('Name', { exact: true }).fill(name)],
		['/vehicles/devices/new', '/v1/devices', async () => {
			await page.getByLabel('Name', { exact: true }).fill(name);
			await page.getByLabel('Its number').fill(`twice-${mark}`);
		}],
		['/money/rates/new', '/v1/rate_plans', async () => {
			await page.getByLabel('Name', { exact: true }).fill(name);
			await page.getByLabel(/^Daily rate/).fill('50');
		}],
		['/rules/new', '/v1/alert_rules', () => page.getByLabel('Name of the rule').fill(name)],
	];
	await enter(page, '/vehicles');
	for (const [at, path, fill] of forms) {
		await show(page, at);
		await fill();
		await page.route(`**${path}`, async (route) => {
			await route.fetch();
			await route.abort();
		}, { times: 1 });
		const save = page.getByRole('button', { name: 'Save' });
		await save.click();
		await expect(page.getByRole('alert').filter({ hasText: 'The server does not answer' })).toBeVisible();
		await save.click();
		await expect(save, at).toHaveCount(0);
		const { data } = await get<{ data: { name: string }[] }>(request, `${path}?per_page=100&sort=-created_at`);
		expect(data.filter((one) => one.name === name), path).toHaveLength(1);
	}
	expect(faults.filter((fault) => !fault.includes('ERR_FAILED'))).toEqual([]);
});

test('what a rule watches, and the times of a booking, are taken back with all that came with them', async ({ page, request }) => {
	const faults = watch(page);
	const saved = page.getByRole('status').filter({ hasText: 'Saved.' });
	const back = page.getByRole('status').filter({ hasText: 'It is as it was before.' });
	const made = { name: `Turn ${mark}`, kind: 'signal', signal: { name: 'engine_rpm', is: 'between', from: 1000, to: 2000, hysteresis: 50 }, scope: { tags: [`turn-${mark}`] }, cooldown_s: 120 };
	const rule = (await post(request, '/v1/alert_rules', made)).id;
	const stands = () => get<Record<string, unknown>>(request, `/v1/alert_rules/${rule}`);
	await enter(page, `/rules/${rule}`);
	await page.getByLabel('Is', { exact: true }).selectOption('above');
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(saved).toBeVisible();
	expect((await stands())['signal']).toMatchObject({ is: 'above', hysteresis: 50 });
	await page.getByRole('button', { name: 'Undo' }).click();
	await expect(back).toBeVisible();
	expect(await stands()).toMatchObject(made);
	await show(page, `/rules/${rule}`);
	await page.getByLabel('Only vehicles tagged').fill('');
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(saved).toBeVisible();
	expect(await stands()).toMatchObject({ signal: made.signal, cooldown_s: 120 });
	expect((await stands())['scope'] ?? null).toBeNull();
	await page.getByRole('button', { name: 'Undo' }).click();
	await expect(back).toBeVisible();
	expect(await stands()).toMatchObject(made);

	const van = (await post(request, '/v1/vehicles', { make: 'Fiat', model: 'Ducato', nickname: `Turn ${mark}`, daily_rate: usd(4000) })).id;
	const times = { pickup_at: new Date(Date.now() + 86_400_000).toISOString().slice(0, 14) + '00:00.000Z', return_at: new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 14) + '00:00.000Z' };
	const booking = (await post(request, '/v1/bookings', { vehicle_id: van, ...times })).id;
	const stood = await get<{ total: { amount: number } }>(request, `/v1/bookings/${booking}`);
	await show(page, `/bookings/${booking}`);
	await page.getByRole('button', { name: 'Move' }).click();
	const until = page.getByLabel('Return', { exact: true });
	await until.fill(`${new Date(Date.now() + 6 * 86_400_000).toISOString().slice(0, 10)}T12:00`);
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(saved).toBeVisible();
	expect((await get<{ total: { amount: number } }>(request, `/v1/bookings/${booking}`)).total.amount).toBeGreaterThan(stood.total.amount);
	await page.getByRole('button', { name: 'Undo' }).click();
	await expect(back).toBeVisible();
	expect(await get(request, `/v1/bookings/${booking}`)).toMatchObject({ ...times, total: stood.total });
	expect(faults).toEqual([]);
});

test('what a form changed is taken back, unless somebody has changed it since, which is said in words of the page', async ({ page, request }) => {
	const faults = watch(page);
	const van = (await post(request, '/v1/vehicles', { make: 'Fiat', model: 'Ducato', nickname: `Undo ${mark}`, color: 'white', daily_rate: usd(4000) })).id;
	const patch = (data: unknown) => request.patch(`/v1/vehicles/${van}`, { headers: { Authorization: `Bearer ${key}` }, data });
	const stands = () => get<{ color: string; vin: string; daily_rate: { amount: number } }>(request, `/v1/vehicles/${van}`);
	await enter(page, `/vehicles/${van}/edit`);
	await page.getByLabel('Colour').fill('red');
	await page.getByLabel('VIN').fill('1M8GDM9AXKP042788');
	await page.getByLabel(/^Daily rate/).fill('55');
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(page.getByRole('heading', { name: `Undo ${mark}` })).toBeVisible();
	const bar = page.getByRole('status').filter({ hasText: 'Saved.' });
	await expect(bar).toBeVisible();
	expect(await stands()).toMatchObject({ color: 'red', daily_rate: { amount: 5500 } });
	await look(page, 'undo');
	await bar.getByRole('button', { name: 'Undo' }).click();
	await expect(page.getByRole('status').filter({ hasText: 'It is as it was before.' })).toBeVisible();
	expect(await stands()).toMatchObject({ color: 'white', vin: '', daily_rate: { amount: 4000 } });

	// What somebody else changed while the form was open is not taken back with it.
	await show(page, `/vehicles/${van}/edit`);
	expect((await patch({ color: 'yellow' })).ok()).toBe(true);
	await page.getByLabel('Colour').fill('black');
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(page.getByRole('heading', { name: `Undo ${mark}` })).toBeVisible();
	expect(await stands()).toMatchObject({ color: 'black' });
	await expect(bar).toHaveCount(0);

	await show(page, `/vehicles/${van}/edit`);
	await page.getByLabel('Language').selectOption('de');
	await page.getByLabel('Farbe').fill('blau');
	await page.getByLabel('Baujahr').fill('99999');
	await page.getByRole('button', { name: 'Speichern' }).click();
	await expect(page.getByRole('alert')).toContainText(/^Eine Eingabe ist so nicht möglich\. year: must be at most/);
	await page.getByLabel('Baujahr').fill('2024');
	await page.getByRole('button', { name: 'Speichern' }).click();
	const saved = page.getByRole('status').filter({ hasText: 'Gespeichert.' });
	await expect(saved).toBeVisible();
	expect((await patch({ color: 'green' })).ok()).toBe(true);
	await page.getByRole('button', { name: 'Rückgängig' }).click();
	await expect(page.getByRole('alert')).toContainText('Es ist inzwischen geändert worden und bleibt, wie es ist.');
	await page.screenshot({ path: test.info().outputPath('undo-refused.png') });
	expect(await stands()).toMatchObject({ color: 'green' });
	await page.getByRole('button', { name: 'Schließen' }).click();
	await expect(page.getByRole('alert')).toHaveCount(0);

	// On the next page but one there is nothing to take back any more.
	await show(page, `/vehicles/${van}/edit`);
	await page.getByLabel('Farbe').fill('rot');
	await page.getByRole('button', { name: 'Speichern' }).click();
	await expect(saved).toBeVisible();
	await show(page, '/vehicles');
	await expect(saved).toHaveCount(0);

	// What did not reach the server can be tried again, on this page alone.
	await show(page, `/vehicles/${van}/edit`);
	await page.getByLabel('Farbe').fill('grau');
	await page.getByRole('button', { name: 'Speichern' }).click();
	await expect(saved).toBeVisible();
	const lost = `**/v1/vehicles/${van}`;
	await page.route(lost, (route) => (route.request().method() === 'PATCH' ? route.abort() : route.continue()));
	await page.getByRole('button', { name: 'Rückgängig' }).click();
	const again = page.getByRole('alert').getByRole('button', { name: 'Rückgängig' });
	await expect(again).toBeVisible();
	await show(page, '/vehicles');
	await expect(page.getByRole('alert')).toHaveCount(0);
	await page.unroute(lost);
	expect(await stands()).toMatchObject({ color: 'grau' });
	expect(faults.filter((fault) => !/status of 412|ERR_FAILED/.test(fault))).toEqual([]);
});
