import { readFile } from 'node:fs/promises';
import { expect, test, type APIRequestContext } from '@playwright/test';
import { accessible, clockOf, enter, get, key, look, post, show, watch } from './own';

// A clerk's day on a real server, in a real browser: from a quote to the payment of a rental that came back damaged.

const hostile = '<img src=x onerror=alert(1)>';
const day = 86_400_000;
const mark = Date.now().toString(36); // tells what this run made from what an earlier one did

interface Shop {
	van: string;
	car: string;
	customer: string;
	booking: string;
	out: string; // a booking whose vehicle is with the customer
	order: string;
}
let shop: Shop | undefined;

/** A small business: two vehicles of a class with a price, a customer, a booking, and something due. Made once. */
async function open(request: APIRequestContext): Promise<Shop> {
	if (shop) return shop;
	const made = async (path: string, data: unknown) => (await post(request, path, data)).id;
	const rates = await made('/v1/rate_plans', {
		name: 'Everyday', currency: 'USD', daily_rate: { amount: 6000, currency: 'USD' }, included_miles_per_day: 150,
		extra_mile_fee: { amount: 35, currency: 'USD' }, deposit_amount: { amount: 25000, currency: 'USD' },
		cancellation_steps: [{ hours_before: 72, fee_bp: 5000 }],
	});
	const kind = await made('/v1/vehicle_classes', { name: 'Compact', code: mark, rate_plan_id: rates });
	const vehicle = (nickname: string, plate: string) => made('/v1/vehicles', {
		make: 'Seat', model: 'Ibiza', year: 2024, nickname: `${nickname} ${mark}`, license_plate: `${plate} ${mark}`, vehicle_class_id: kind, fuel_type: 'gasoline', registration_expires_on: '2027-05-01',
	});
	const car = await vehicle('Comet', 'CL 1');
	const van = await vehicle('Beetle', 'CL 2');
	const customer = await made('/v1/customers', {
		first_name: 'Ada', last_name: 'Muster', email: `ada.${mark}@example.com`, phone: '+12025550143', date_of_birth: '1990-04-01',
		licence: { number: 'D1234567', country: 'US', region: 'TX', expires_on: '2031-01-01' }, address: { line1: '1 Main St', city: 'Austin', region: 'TX', country: 'US' },
	});
	await made('/v1/customers', { display_name: hostile, email: `hostile.${mark}@example.com` });
	const at = Math.ceil(Date.now() / day) * day + 9 * 3_600_000;
	const booking = await made('/v1/bookings', {
		vehicle_id: van, customer_id: customer, confirm: true, pickup_at: new Date(at + day).toISOString(), return_at: new Date(at + 3 * day).toISOString(),
	});
	const gone = await vehicle('Drone', 'CL 3');
	const out = await made('/v1/bookings', { vehicle_id: gone, customer_id: customer, confirm: true, pickup_at: new Date().toISOString(), return_at: new Date(at + day).toISOString() });
	await post(request, `/v1/bookings/${out}/pickup`, { mileage_mi: 8000, fuel_pct: 75 });
	const task = await made('/v1/maintenance/tasks', { name: 'Oil change', every_mi: 6000 });
	await made('/v1/maintenance/schedules', { task_id: task, vehicle_id: car, every_days: 180, anchor: { on: '2026-01-01' } }).catch(() => {});
	const order = await made('/v1/maintenance/work_orders', { vehicle_id: van, title: 'New brake pads', type: 'corrective' });
	return (shop = { van, car, customer, booking, out, order });
}

test('a walk-in of the day becomes a customer in the middle of a booking, which stays as it was filled in', async ({ page, request }) => {
	const { car } = await open(request);
	const local = await clockOf(request);
	const [pickup, back] = [local(Date.now() + 3 * day), local(Date.now() + 5 * day)];
	await enter(page, `/bookings/new?vehicle=${car}`);
	await page.getByLabel('Pickup', { exact: true }).fill(pickup);
	await page.getByLabel('Return', { exact: true }).fill(back);
	await page.getByRole('searchbox', { name: 'Customer' }).fill(`Wanda ${mark}`);
	await page.getByRole('link', { name: 'New customer' }).click();
	await expect(page.getByLabel('First name')).toHaveValue('Wanda');
	await expect(page.getByLabel('Last name')).toHaveValue(mark);
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(page.getByRole('heading', { name: 'New booking' })).toBeVisible();
	await expect(page.getByText(`Wanda ${mark}`)).toBeVisible();
	await expect(page.getByLabel('Pickup', { exact: true })).toHaveValue(pickup);
	await expect(page.getByLabel('Return', { exact: true })).toHaveValue(back);
	await expect(page.getByRole('radio', { name: `Comet ${mark}` })).toBeChecked();
	await page.getByLabel('Pickup', { exact: true }).fill(local(Date.now() + 6 * day)); // and the rental stays as long as it was
	await expect(page.getByLabel('Return', { exact: true })).toHaveValue(local(Date.now() + 8 * day));
	await page.getByLabel('Pickup', { exact: true }).focus();
	const then = new Date(Date.now() + 400 * day).getUTCFullYear();
	await page.keyboard.type(`0115${then}`); // each digit of the year makes a date
	await expect(page.getByLabel('Return', { exact: true })).toHaveValue(new RegExp(`^${then}-01-17T`));
});

test("a clerk's day: quote, booking, pickup, return with damage, payment", async ({ page, request }) => {
	test.setTimeout(240_000); // two dozen writes and photos, on a machine that may be busy
	const faults = watch(page);
	const { customer } = await open(request);
	await enter(page, `/bookings/new?customer=${customer}`);
	const now = Math.floor(Date.now() / 60_000) * 60_000;
	const local = await clockOf(request);
	await page.getByLabel('Pickup', { exact: true }).fill(local(now + 10 * 60_000));
	await page.getByLabel('Return', { exact: true }).fill(local(now + 2 * day));
	await page.getByRole('radio', { name: `Comet ${mark}` }).check();
	await expect(page.getByText(/^Quote /)).toBeVisible();
	await expect(page.getByRole('listitem').filter({ hasText: 'Total' })).toContainText('$120.00');
	await page.getByText('How the price came to be').click();
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath('quote.png'), fullPage: true });
	await page.getByRole('button', { name: 'Hold it for now' }).click();

	await expect(page.getByRole('heading', { name: /^Booking / })).toBeVisible();
	await page.getByRole('button', { name: 'Confirm', exact: true }).click();
	await expect(page.getByText('Confirmed', { exact: true })).toBeVisible();
	await page.getByRole('button', { name: 'Cancel', exact: true }).click();
	await expect(page.getByText('Cancelling now costs $60.00.')).toBeVisible(); // told, and not done
	await page.getByRole('button', { name: 'Not now' }).click();
	await page.getByRole('button', { name: 'Note the hold' }).click();
	await expect(page.getByText('Authorized', { exact: true })).toBeVisible();
	await accessible(page);

	await page.getByRole('link', { name: 'Pickup', exact: true }).click();
	await page.getByRole('button', { name: 'Hand it over' }).click();
	await expect(page.getByText(/^No odometer reading is entered/)).toBeVisible();
	await page.getByLabel(/^Odometer/).fill('12000');
	await page.getByRole('button', { name: 'Full' }).click();
	await page.getByLabel('Signed by').fill('Ada Muster');
	await accessible(page);
	await page.getByRole('button', { name: 'Hand it over' }).click();
	await expect(page.getByText('Active', { exact: true })).toBeVisible();

	const picture = { name: 'door.png', mimeType: 'image/png', buffer: await page.screenshot() };
	await page.setViewportSize({ width: 390, height: 844 }); // it is taken back in the yard
	await page.getByRole('link', { name: 'Return', exact: true }).click();
	await page.getByLabel(/^Odometer/).fill('11000'); // less than at the pickup
	await page.getByRole('button', { name: 'Take it back' }).click();
	await expect(page.getByRole('alert')).toBeVisible();
	await expect(page.getByLabel(/^Odometer/)).toHaveAttribute('aria-invalid', 'true');
	await page.getByLabel(/^Odometer/).fill('12100');
	await page.getByRole('button', { name: 'Add damage' }).click();
	await page.getByLabel('What is damaged').fill('Scratched door');
	await page.getByLabel('Where').fill('Left');
	await page.getByLabel(/^Estimated cost/).fill('80');
	await page.getByLabel('Take photos of the damage').setInputFiles(picture);
	await page.getByLabel('Take photos of the vehicle').setInputFiles([picture, picture]);
	await page.getByRole('button', { name: 'Remove Photo 2' }).click();
	await page.getByLabel('Signed by').fill('Ada Muster');
	await page.locator('canvas').scrollIntoViewIfNeeded();
	const pad = (await page.locator('canvas').boundingBox())!;
	await page.mouse.move(pad.x + 30, pad.y + 40);
	await page.mouse.down();
	await page.mouse.move(pad.x + 120, pad.y + 70, { steps: 5 });
	await page.mouse.up();
	await expect(page.getByRole('button', { name: 'Clear the signature' })).toBeEnabled();
	for (const one of await page.locator('form').locator('button, input, select, textarea, canvas').all()) {
		const { x, width } = (await one.boundingBox())!;
		expect(x >= 0 && x + width <= 390, await one.evaluate((of) => of.outerHTML)).toBe(true);
	}
	await look(page, 'return');
	await page.getByRole('button', { name: 'Take it back' }).click();

	await expect(page.getByText('Completed', { exact: true })).toBeVisible();
	const damage = page.getByRole('listitem').filter({ hasText: 'Scratched door' });
	await damage.getByText('Photos (1)').click();
	await expect(damage.getByRole('img', { name: 'Photo 1' })).toBeVisible();
	const back = page.getByRole('listitem').filter({ hasText: 'Return · Ada Muster' });
	await expect(back.locator('summary')).toHaveCount(2); // the vehicle, and the signature
	for (const one of await back.locator('summary').all()) await one.click();
	await expect(back.getByRole('img')).toHaveCount(2);
	for (const img of await back.getByRole('img').all()) expect(await img.evaluate((of: HTMLImageElement) => of.decode().then(() => of.naturalWidth))).toBeGreaterThan(400);
	await damage.getByRole('button', { name: 'Charge it' }).click();
	await expect(damage.getByText(/^The customer owes /)).toBeVisible(); // it is asked once more
	await damage.getByRole('button', { name: 'Charge it' }).click();
	await expect(damage.getByText('Charged', { exact: true })).toBeVisible();
	await expect(page.getByRole('definition').filter({ hasText: '$200.00' })).toBeVisible();
	await page.getByRole('button', { name: 'Take a payment' }).click();
	await expect(page.getByLabel(/^Amount/)).toHaveValue('200.00');
	await page.getByRole('button', { name: 'Note the payment' }).click();
	await expect(page.getByText('Paid', { exact: true }).first()).toBeVisible();
	await page.getByRole('button', { name: 'Make the agreement' }).click();
	const agreement = page.getByRole('listitem').filter({ hasText: /^Rental agreement / });
	const file = page.waitForEvent('download');
	await agreement.getByRole('button', { name: 'PDF' }).click();
	expect((await file).suggestedFilename()).toMatch(/\.pdf$/);
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath('booking.png'), fullPage: true });
	expect(faults).toEqual([]);
});

test('a booking is dragged: what is in the way is said before it is let go, and it can be undone', async ({ page, request }) => {
	const faults = watch(page);
	const { booking, van } = await open(request);
	await enter(page, '/bookings');
	const bar = page.locator(`a[href="/bookings/${booking}"]`);
	const box = (await bar.boundingBox())!;
	const lane = (await page.locator(`[data-vehicle="${van}"] .lane`).boundingBox())!;
	const last = { named: page.locator('.head .cell').last(), drawn: page.locator(`[data-vehicle="${van}"] .cell`).last() };
	expect((await last.named.boundingBox())!.x).toBeCloseTo((await last.drawn.boundingBox())!.x, 0);
	const told = page.getByRole('status').filter({ hasText: /free|Taken|changed|before/ });
	const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
	await page.mouse.move(middle.x, middle.y);
	await page.mouse.down();
	await page.mouse.move(middle.x + lane.width / 14, middle.y, { steps: 4 });
	await expect(told).toContainText('free');
	await page.mouse.up();
	await expect(told).toContainText('was changed');
	await page.getByRole('button', { name: 'Undo' }).click();
	await expect(told).toContainText('as it was before');

	// Something else comes to hold the vehicle two days later, and the page does not know.
	const at = Math.ceil(Date.now() / day) * day + day * 5;
	await post(request, `/v1/vehicles/${van}/blocks`, { kind: 'owner_use', reason: 'Moving house', from: new Date(at).toISOString(), until: new Date(at + 2 * day).toISOString() });
	await page.mouse.move(middle.x, middle.y);
	await page.mouse.down();
	await page.mouse.move(middle.x + (lane.width / 14) * 3, middle.y, { steps: 6 });
	await expect(page.getByRole('status').filter({ hasText: 'Taken' })).toBeVisible();
	await page.screenshot({ path: test.info().outputPath('taken.png') });
	await page.mouse.up();
	await expect(page.getByRole('status').filter({ hasText: 'Nothing was changed' })).toBeVisible();
	await accessible(page);
	expect(faults).toEqual([]);
});

test('a booking is dragged to the row of another vehicle at the same time, and back by undoing', async ({ page, request }) => {
	const faults = watch(page);
	const { customer } = await open(request);
	const vehicle = async (name: string) => (await post(request, '/v1/vehicles', { make: 'Seat', model: 'Ibiza', nickname: `${name} row${mark}` })).id;
	const [from, to, taken] = [await vehicle('Moth'), await vehicle('Firefly'), await vehicle('Tick')];
	const at = Math.ceil(Date.now() / day) * day + 9 * 3_600_000;
	const times = { pickup_at: new Date(at + day).toISOString(), return_at: new Date(at + 3 * day).toISOString() };
	const { id } = await post(request, '/v1/bookings', { vehicle_id: from, customer_id: customer, confirm: true, ...times });
	await enter(page, `/bookings?q=row${mark}`);
	const bar = page.locator(`a[href="/bookings/${id}"]`);
	const rowOf = (of: string) => page.locator(`[data-vehicle="${of}"]`);
	const told = page.getByRole('status').filter({ hasText: /free|Taken|changed|before/ });
	/** Takes the bar to a row, straight up or down. */
	const lift = async (of: string) => {
		const box = (await bar.boundingBox())!, row = (await rowOf(of).boundingBox())!;
		await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
		await page.mouse.down();
		await page.mouse.move(box.x + box.width / 2, row.y + row.height / 2, { steps: 5 });
	};
	const now = () => get<{ vehicle_id: string; pickup_at: string; return_at: string }>(request, `/v1/bookings/${id}`);
	await expect(rowOf(from).locator(bar)).toBeVisible();
	await lift(to);
	await expect(told).toContainText(`Firefly row${mark}`);
	await expect(told).toContainText('free');
	await page.screenshot({ path: test.info().outputPath('row.png') });
	await page.mouse.up();
	await expect(told).toContainText('was changed');
	await expect(rowOf(to).locator(bar)).toBeVisible();
	const moved = await now();
	expect(moved.vehicle_id).toBe(to);
	expect([moved.pickup_at, moved.return_at].map((of) => Date.parse(of))).toEqual([times.pickup_at, times.return_at].map((of) => Date.parse(of)));
	await page.getByRole('button', { name: 'Undo' }).click();
	await expect(told).toContainText('as it was before');
	await expect(rowOf(from).locator(bar)).toBeVisible();
	expect((await now()).vehicle_id).toBe(from);

	// Another vehicle is held by something that the page does not know of.
	await post(request, `/v1/vehicles/${taken}/blocks`, { kind: 'owner_use', reason: 'Moving house', from: times.pickup_at, until: times.return_at });
	await lift(taken);
	await expect(told).toContainText('Taken');
	await page.mouse.up();
	await expect(told).toContainText('Nothing was changed');
	await expect(rowOf(from).locator(bar)).toBeVisible();
	expect((await now()).vehicle_id).toBe(from);
	await accessible(page);
	expect(faults).toEqual([]);
});

test("a booking's papers are made, each can be had as a PDF, and they are found again", async ({ page, request }) => {
	const faults = watch(page);
	const { customer } = await open(request);
	const usd = (amount: number) => ({ amount, currency: 'USD' });
	const plan = await post(request, '/v1/rate_plans', { name: `Papers ${mark}`, currency: 'USD', daily_rate: usd(5000) });
	const kind = await post(request, '/v1/vehicle_classes', { name: `Papers ${mark}`, code: `p${mark}`, rate_plan_id: plan.id });
	const vehicle = await post(request, '/v1/vehicles', { make: 'Seat', model: 'Ibiza', nickname: `Gnat ${mark}`, vehicle_class_id: kind.id });
	const at = Math.ceil(Date.now() / day) * day + 9 * 3_600_000;
	const { id } = await post(request, '/v1/bookings', { vehicle_id: vehicle.id, customer_id: customer, confirm: true, pickup_at: new Date(at).toISOString(), return_at: new Date(at + 2 * day).toISOString() });
	await enter(page, `/bookings/${id}`);
	const paper = (name: string) => page.getByRole('listitem').filter({ hasText: new RegExp(`^${name} \\S`) }).filter({ has: page.getByRole('button', { name: 'PDF' }) });
	const papers = page.getByRole('button', { name: 'PDF' });
	await expect(page.getByRole('button', { name: 'Make the agreement' })).toBeVisible();
	await expect(papers).toHaveCount(0);
	await page.getByRole('button', { name: 'Make the agreement' }).click();
	await expect(paper('Rental agreement')).toBeVisible();
	await page.getByRole('button', { name: 'Make an invoice' }).click();
	await expect(paper('Invoice')).toContainText('Open');
	await expect(page.getByRole('button', { name: 'Make an invoice' })).toHaveCount(0); // all is billed
	await page.getByRole('button', { name: 'Take a payment' }).click();
	await page.getByRole('button', { name: 'Note the payment' }).click();
	await page.getByRole('button', { name: /^Make a receipt for/ }).click();
	await expect(paper('Receipt')).toBeVisible();
	await expect(papers).toHaveCount(3);
	for (const name of ['Rental agreement', 'Invoice', 'Receipt']) {
		const file = page.waitForEvent('download');
		await paper(name).getByRole('button', { name: 'PDF' }).click();
		expect((await readFile(await (await file).path())).subarray(0, 5).toString()).toBe('%PDF-');
		const number = (await paper(name).innerText()).slice(name.length).trim().split(/\s+/)[0];
		expect((await file).suggestedFilename()).toBe(`${number}.pdf`);
	}
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath('papers.png'), fullPage: true });
	const number = (await paper('Invoice').innerText()).split(/\s+/)[1]!;
	await show(page, `/money/papers?q=${number}`);
	const found = page.getByRole('listitem').filter({ hasText: number });
	await expect(found).toContainText('Ada Muster');
	await expect(found).toContainText('$100.00');
	await found.getByRole('link', { name: 'Booking', exact: true }).click();
	await expect(page).toHaveURL(new RegExp(`/bookings/${id}`));
	expect(faults).toEqual([]);
});

test('a return that is dragged is extended once: what is lost on the way is sent again under its key, what was done is seen', async ({ page, request }) => {
	const faults = watch(page);
	const { booking } = await open(request);
	const keys: string[] = [];
	page.on('request', (r) => {
		if (r.url().endsWith('/extend')) keys.push(r.headers()['idempotency-key'] ?? '');
	});
	await enter(page, '/bookings');
	const bar = page.locator(`a[href="/bookings/${booking}"]`);
	const longer = async () => {
		const box = (await bar.boundingBox())!;
		const dayWidth = (await page.locator('.head .cell').first().boundingBox())!.width;
		await page.mouse.move(box.x + box.width - 4, box.y + box.height / 2);
		await page.mouse.down();
		await page.mouse.move(box.x + box.width - 4 + dayWidth, box.y + box.height / 2, { steps: 4 });
		await expect(page.getByRole('status').filter({ hasText: 'free' })).toBeVisible();
		await page.mouse.up();
	};
	const told = (text: string) => expect(page.getByRole('status').filter({ hasText: text })).toBeVisible();
	await page.route('**/extend', (route) => route.abort(), { times: 1 });
	await longer();
	await told('The server does not answer');
	await page.route('**/extend', async (route) => {
		await route.fetch();
		await route.abort();
	}, { times: 1 });
	await longer();
	await told('was changed');
	expect(keys).toHaveLength(2);
	expect(keys[0]).toBeTruthy();
	expect(keys[1]).toBe(keys[0]);
	await page.getByRole('button', { name: 'Undo' }).click(); // another act, under another key
	await told('as it was before');
	expect(keys).toHaveLength(3);
	expect(keys[2]).not.toBe(keys[0]);
	expect(faults.filter((fault) => !fault.includes('ERR_FAILED'))).toEqual([]);
});

test('customers, vehicles and work orders are made and changed', async ({ page, request }) => {
	const faults = watch(page);
	await open(request);
	await enter(page, '/customers/new');
	await page.getByLabel('First name').fill('Grace');
	await page.getByLabel('Last name').fill('Beispiel');
	await page.getByLabel('Email').fill('no address');
	await page.getByLabel('Email').evaluate((input: HTMLInputElement) => (input.form!.noValidate = true));
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(page.getByLabel('Email')).toHaveAttribute('aria-invalid', 'true');
	await page.getByLabel('Email').fill('grace@example.com');
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(page.getByRole('heading', { name: 'Grace Beispiel' })).toBeFocused();
	await page.getByRole('button', { name: 'Do not rent to them' }).click();
	await page.getByLabel('Reason').fill('Never paid');
	await page.getByRole('button', { name: 'Do not rent to them' }).last().click();
	await expect(page.getByText('Never paid')).toBeVisible();
	await accessible(page);

	await page.getByRole('link', { name: 'Vehicles' }).click();
	await page.getByRole('link', { name: 'New vehicle' }).click();
	await page.getByLabel('Make').fill('Fiat');
	await page.getByLabel('Model').fill('Panda');
	await page.getByLabel('License plate').fill(`CL ${mark}`);
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(page.getByRole('heading', { name: `CL ${mark}` })).toBeVisible();
	await page.getByRole('link', { name: 'Edit' }).click();
	await page.getByLabel('Name', { exact: true }).fill('Bear');
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(page.getByRole('heading', { name: 'Bear' })).toBeVisible();
	await page.getByRole('button', { name: 'Note a reading' }).click();
	await page.getByLabel(/^Odometer/).fill('5000');
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(page.getByText('5,000 mi').first()).toBeVisible();
	await accessible(page);

	await page.getByRole('link', { name: 'New work order' }).click();
	await page.getByLabel('What is to be done').fill('Wash');
	await page.getByRole('button', { name: 'Save' }).click();
	await page.getByRole('button', { name: 'Start' }).click();
	await expect(page.getByText('In progress', { exact: true })).toBeVisible();
	await page.getByRole('button', { name: 'Add a cost' }).click();
	await page.getByLabel(/^Cost of one/).fill('35');
	await page.getByRole('button', { name: 'Add a cost' }).last().click();
	await expect(page.getByText('$35.00').last()).toBeVisible();
	await page.getByRole('button', { name: 'Done' }).click();
	await page.getByLabel(/^Odometer/).fill('5010');
	await page.getByRole('button', { name: 'Done' }).last().click();
	await expect(page.getByText('Completed', { exact: true })).toBeVisible();
	await accessible(page);
	expect(faults).toEqual([]);
});

test("a customer's documents are listed with their dates, and each picture opens", async ({ page, request }) => {
	const faults = watch(page);
	const { id } = await post(request, '/v1/customers', { display_name: `Papers ${mark}` });
	await enter(page, `/customers/${id}`);
	await expect(page.getByText('No documents yet')).toBeVisible();
	await expect(page.getByText('Photos and signatures of pickups and returns are kept here')).toBeVisible();
	const picture = await page.screenshot();
	const add = async (data: object, type = '', file = Buffer.from('')) => {
		const made = await post(request, `/v1/customers/${id}/documents`, data);
		if (!type) return;
		const put = await request.put(`/v1/customers/${id}/documents/${made.id}/file`, { headers: { Authorization: `Bearer ${key}`, 'Content-Type': type }, data: file });
		expect(put.ok(), await put.text()).toBe(true);
	};
	await add({ kind: 'license_front', name: hostile, expires_on: '2031-01-01' }, 'image/png', picture);
	await add({ kind: 'id', expires_on: '2020-05-01' }, 'image/png', picture);
	await add({ kind: 'insurance', name: 'Policy' }, 'application/pdf', Buffer.from('%PDF-1.7\n'));
	await add({ kind: 'other', name: 'To come' });
	await show(page, '/customers');
	await show(page, `/customers/${id}`);
	const row = (text: string) => page.getByRole('listitem').filter({ hasText: text });
	await expect(row('Licence, front')).toContainText(hostile);
	await expect(row('Licence, front')).toContainText('Valid until Jan 1, 2031');
	await expect(row('Licence, front')).toContainText(new Date().getFullYear().toString());
	await expect(row('Licence, front')).not.toContainText('Expired');
	await expect(row('2020')).toContainText('Expired');
	await expect(row('To come')).toContainText('No file');
	for (const text of ['Licence, front', '2020']) {
		await row(text).getByText('Show', { exact: false }).click();
		expect(await row(text).getByRole('img').evaluate((of: HTMLImageElement) => of.decode().then(() => of.naturalWidth))).toBe(1280);
	}
	const file = page.waitForEvent('download');
	await row('Policy').getByRole('button', { name: 'Save the file' }).click();
	expect((await file).suggestedFilename()).toBe('Policy.pdf');
	await page.screenshot({ path: test.info().outputPath('documents.png'), fullPage: true });
	await look(page, 'documents');
	expect(faults).toEqual([]);
});

for (const theme of ['light', 'dark'] as const) {
	for (const [size, viewport] of Object.entries({ desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } })) {
		test(`the clerk's pages can be read: ${theme}, ${size}`, async ({ browser, request }) => {
			test.setTimeout(240_000);
			const { van, customer, booking, out, order } = await open(request);
			const context = await browser.newContext({ colorScheme: theme, viewport, locale: 'de-DE' });
			const page = await context.newPage();
			const faults = watch(page);
			await enter(page, '/bookings');
			const pages = {
				calendar: '/bookings', bookings: '/bookings?view=list', booking: `/bookings/${booking}`, new: `/bookings/new?customer=${customer}`,
				pickup: `/bookings/${booking}/pickup`, return: `/bookings/${out}/return`, customers: '/customers', customer: `/customers/${customer}`, 'customer-edit': `/customers/${customer}/edit`,
				vehicles: '/vehicles', vehicle: `/vehicles/${van}`, 'vehicle-edit': `/vehicles/${van}/edit`, maintenance: '/maintenance', order: `/maintenance/${order}`, 'order-edit': `/maintenance/${order}/edit`,
				later: '/maintenance?later=1', tasks: '/maintenance/tasks', task: '/maintenance/tasks/new', schedules: '/maintenance/schedules', schedule: '/maintenance/schedules/new',
				issues: '/maintenance/issues', 'issue-new': '/maintenance/issues/new', inspections: '/maintenance/inspections', 'inspection-new': '/maintenance/inspections/new',
				'booking-history': `/bookings/${booking}?history=1`, 'customer-history': `/customers/${customer}?history=1`,
			};
			for (const [name, at] of Object.entries(pages)) {
				await show(page, at);
				await page.screenshot({ path: test.info().outputPath(`${name}.png`) });
				expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), name).toBe(true);
				await accessible(page);
			}
			expect(faults).toEqual([]);
			await context.close();
		});
	}
}
