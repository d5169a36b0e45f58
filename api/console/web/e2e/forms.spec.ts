import { expect, test } from '@playwright/test';
import { catalogue, filled, type Language } from '../src/lib/texts';
import { accessible, enter, get, key, look, post, show, watch } from './own';

// Forms that say all that a rate plan and a rule can, and what the address of the map keeps.

const mark = Date.now().toString(36);

test('a rate plan has prices for days, discounts, extras and promotions, and keeps what the form does not show', async ({ page, request }) => {
	const faults = watch(page);
	const usd = (amount: number) => ({ amount, currency: 'USD' });
	const plan = (await post(request, '/v1/rate_plans', {
		name: `Forms ${mark}`, currency: 'USD', daily_rate: usd(5000), extras: [{ code: 'seat', name: 'Child seat', price: usd(500), per: 'day', max_price: usd(3000) }],
	})).id;
	await enter(page, `/money/rates/${plan}/edit`);
	await page.getByRole('button', { name: 'Add a price for days' }).click();
	const tiers = page.getByRole('group', { name: 'Prices for several days' });
	await tiers.getByLabel('Days', { exact: true }).fill('7');
	await tiers.getByLabel(/^Price for all/).fill('280');
	await page.getByRole('button', { name: 'Add a discount' }).click();
	await page.getByLabel('From so many days').fill('14');
	await page.getByRole('group', { name: 'Discounts for long rentals' }).getByLabel('Percent off').fill('12.5');
	await page.getByRole('button', { name: 'Add an extra' }).click();
	const extras = page.getByRole('group', { name: 'Extras' });
	await extras.getByLabel('Name').last().fill('Snow chains');
	await extras.getByLabel('Code').last().fill('chains');
	await extras.getByLabel(/^Price/).last().fill('many');
	await extras.getByLabel('Charged').last().selectOption('a rental');
	await page.getByRole('button', { name: 'Add a promotion' }).click();
	const promotions = page.getByRole('group', { name: 'Promotions' });
	await promotions.getByLabel('Code').fill('AUTUMN');
	await promotions.getByLabel('Or an amount off').fill('20');
	await promotions.getByLabel('Booked until').fill('2027-11-30');
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(extras.getByLabel(/^Price/).last()).toHaveAttribute('aria-invalid', 'true');
	await extras.getByLabel(/^Price/).last().fill('15');
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath('rate.png'), fullPage: true });
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(page).toHaveURL(new RegExp(`/money/rates/${plan}$`));
	await expect(page.getByText('Snow chains')).toBeVisible();
	const kept = await get<Record<string, unknown>>(request, `/v1/rate_plans/${plan}`);
	expect(kept['tiers']).toEqual([{ days: 7, price: usd(28000) }]);
	expect(kept['length_discounts']).toEqual([{ min_days: 14, discount_bp: 1250 }]);
	expect(kept['promotions']).toMatchObject([{ code: 'AUTUMN', amount: usd(2000), until: '2027-11-30' }]);
	expect(kept['extras']).toMatchObject([{ code: 'seat', max_price: usd(3000), per: 'day' }, { code: 'chains', price: usd(1500), per: 'rental' }]);
	expect(faults).toEqual([]);
});

test('a rate plan has holidays, steps of cancelling, fees and limits', async ({ page, request }) => {
	const faults = watch(page);
	const usd = (amount: number) => ({ amount, currency: 'USD' });
	const here = await post(request, '/v1/locations', { name: `Airport ${mark}` });
	const plan = (await post(request, '/v1/rate_plans', { name: `Rules ${mark}`, currency: 'USD', daily_rate: usd(5000), late_fee_per_day: usd(7000) })).id;
	await enter(page, `/money/rates/${plan}/edit`);
	const group = (name: string) => page.getByRole('group', { name, exact: true });
	await page.getByRole('button', { name: 'Add a holiday' }).click();
	await group('Holidays').getByLabel('Day').fill('2027-12-25');
	await group('Holidays').getByLabel(/^Percent/).fill('50');
	for (const [hours, percent] of [['24', '100'], ['72', '50']] as const) {
		await page.getByRole('button', { name: 'Add a step' }).click();
		await group('Cancelling').getByLabel('Less than so many hours before').last().fill(hours);
		await group('Cancelling').getByLabel('Percent of the total').last().fill(percent);
	}
	await group('Returned elsewhere').getByRole('button', { name: 'Add a fee' }).click();
	await group('Returned elsewhere').getByLabel('Returned to').selectOption(`Airport ${mark}`);
	await group('Returned elsewhere').getByLabel(/^Fee/).fill('45');
	await page.getByLabel(/^Young driver/).fill('12.50');
	await page.getByLabel('Young is below the age of').fill('25');
	await page.getByLabel('No-show, percent of the total').fill('80');
	await page.getByLabel('Days at least').fill('three');
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(page.getByLabel('Days at least')).toHaveAttribute('aria-invalid', 'true');
	await page.getByLabel('Days at least').fill('3');
	await page.getByLabel('Days at most').fill('2');
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(page.getByLabel('Days at most')).toHaveAttribute('aria-invalid', 'true');
	await page.getByLabel('Days at most').fill('60');
	await page.getByLabel(/^Late, a day/).fill('');
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath('rules.png'), fullPage: true });
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(page).toHaveURL(new RegExp(`/money/rates/${plan}$`));
	const kept = await get<Record<string, unknown>>(request, `/v1/rate_plans/${plan}`);
	expect(kept).toMatchObject({
		holidays: [{ date: '2027-12-25', factor_bp: 15_000 }], cancellation_steps: [{ hours_before: 24, fee_bp: 10_000 }, { hours_before: 72, fee_bp: 5000 }],
		one_way_fees: [{ fee: usd(4500), return_location_id: here.id }], young_driver_fee: usd(1250), young_driver_age: 25,
		no_show_fee_bp: 8000, min_rental_days: 3, max_rental_days: 60,
	});
	expect(kept['late_fee_per_day'] ?? null).toBeNull();
	expect(faults).toEqual([]);
});

// What a rate plan and a service task say of one: one is one, in each language.
const ofOne = {
	'en-US': { plan: ['1 day', 'From 1 day', '1 day ahead', 'Less than 1 hour before pickup'], task: 'every day or every month', shown: '1 of 1 is shown.' },
	'de-DE': { plan: ['1 Tag', 'Ab 1 Tag', '1 Tag vorher', 'Weniger als 1 Stunde vor Abholung'], task: 'jeden Tag oder jeden Monat', shown: '1 von 1 wird gezeigt.' },
	'es-ES': { plan: ['1 día', 'Desde 1 día', '1 día antes', 'Menos de 1 hora antes de la recogida'], task: 'cada día o cada mes', shown: 'Se muestra 1 de 1.' },
};
test('one is one, in each language', async ({ browser, request }) => {
	const usd = (amount: number) => ({ amount, currency: 'USD' });
	const { id } = await post(request, '/v1/rate_plans', {
		name: `One ${mark}`, currency: 'USD', daily_rate: usd(5000), tiers: [{ days: 1, price: usd(4900) }], length_discounts: [{ min_days: 1, discount_bp: 100 }],
		early_bird_discounts: [{ min_days_ahead: 1, discount_bp: 200 }], cancellation_steps: [{ hours_before: 1, fee_bp: 5000 }],
	});
	await post(request, '/v1/maintenance/tasks', { name: `One ${mark}`, every_days: 1, every_months: 1 });
	for (const [locale, of] of Object.entries(ofOne)) {
		const context = await browser.newContext({ locale });
		const page = await context.newPage();
		await page.goto(`/money/rates/${id}`);
		await page.locator('input[type=password]').fill(key);
		await page.locator('form button').click();
		for (const text of of.plan) await expect(page.locator('.lines').getByText(text, { exact: true }), locale).toBeVisible();
		await show(page, '/maintenance/tasks');
		await expect(page.getByRole('link').filter({ hasText: `One ${mark}` }), locale).toContainText(of.task);
		await context.close();
		const said = catalogue[locale.slice(0, 2) as Language].shownOf;
		expect(filled(said, { n: 1, all: 1 })).toBe(of.shown);
		expect(filled(said, { n: 21, all: 31 })).not.toContain('#');
	}
	// Whatever has a word for one and a word for more has each of them in each language, and says neither # nor a brace.
	for (const texts of Object.values(catalogue))
		for (const text of Object.values(texts).filter((text) => text.includes('|')))
			for (const n of ['1', '2']) expect(filled(text, { n, h: n, of: n, all: n, f: 'x', m: 'x' })).not.toMatch(/[#{}|]/);
});

test('a rule watches at some times only', async ({ page, request }) => {
	const faults = watch(page);
	const rule = (await post(request, '/v1/alert_rules', { name: `Night ${mark}`, kind: 'speeding', threshold_mph: 60, schedule: { timezone: 'Asia/Tokyo', windows: [{ from: '08:00', until: '24:00' }] } })).id;
	await enter(page, `/rules/${rule}`);
	await expect(page.getByText('In the time zone Asia/Tokyo.')).toBeVisible();
	const times = page.getByRole('group', { name: 'When it watches' });
	await times.getByRole('button', { name: 'Add times' }).click();
	await times.getByRole('group', { name: 'Days' }).last().getByLabel('Sat').check();
	await times.getByRole('group', { name: 'Days' }).last().getByLabel('Sun').check();
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath('rule.png'), fullPage: true });
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(page.getByRole('heading', { name: 'Rules' })).toBeVisible();
	const kept = () => get<{ schedule?: unknown }>(request, `/v1/alert_rules/${rule}`);
	expect((await kept()).schedule).toEqual({ timezone: 'Asia/Tokyo', windows: [{ from: '08:00', until: '24:00' }, { from: '22:00', until: '06:00', days: ['sat', 'sun'] }] });
	await show(page, `/rules/${rule}`);
	await times.getByRole('button', { name: /^Remove/ }).first().click();
	await times.getByRole('button', { name: /^Remove/ }).first().click();
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(page.getByRole('heading', { name: 'Rules' })).toBeVisible();
	expect((await kept()).schedule ?? null).toBeNull();
	expect(faults).toEqual([]);
});

test('the address keeps that a vehicle is followed', async ({ page, request }) => {
	const faults = watch(page);
	const vehicle = (await post(request, '/v1/vehicles', { make: 'Renault', model: 'Zoe', nickname: `Follow ${mark}` })).id;
	const device = await post(request, '/v1/devices', { unique_id: `follow-${mark}` });
	await post(request, `/v1/devices/${device.id}/assign`, { vehicle_id: vehicle });
	await post(request, '/v1/positions', [{ unique_id: `follow-${mark}`, fix_at: new Date().toISOString(), lat: 41.25, lng: -96, speed_mph: 30 }]);
	await enter(page, `/map?vehicle=${vehicle}`);
	const follow = page.getByLabel('Follow on the map');
	await expect(follow).toBeEnabled();
	await follow.check();
	await expect(page).toHaveURL(/follow=1/);
	await enter(page, `/map?vehicle=${vehicle}&follow=1`);
	await expect(follow).toBeChecked();
	await page.getByRole('button', { name: 'Back to the list' }).click();
	await expect(page).not.toHaveURL(/follow/);
	expect(faults).toEqual([]);
});

test("a rental's day on a telephone: its class gets a vehicle, that is swapped on the road, and a payment is refunded", async ({ page, request }) => {
	test.setTimeout(240_000);
	const faults = watch(page);
	await page.setViewportSize({ width: 390, height: 844 });
	const usd = (amount: number) => ({ amount, currency: 'USD' });
	const made = async (path: string, data: unknown) => (await post(request, path, data)).id;
	const plan = await made('/v1/rate_plans', { name: `Phone ${mark}`, currency: 'USD', daily_rate: usd(6000) });
	const small = await made('/v1/vehicle_classes', { name: `Small ${mark}`, code: `s${mark}`, rate_plan_id: plan });
	const large = await made('/v1/vehicle_classes', { name: `Large ${mark}`, code: `l${mark}`, rate_plan_id: plan });
	const vehicle = (nickname: string, vehicle_class_id: string) => made('/v1/vehicles', { make: 'Seat', model: 'Ibiza', nickname: `${nickname} ${mark}`, vehicle_class_id, fuel_type: 'gasoline' });
	await vehicle('Amber', small);
	await vehicle('Cedar', large);
	const customer = await made('/v1/customers', { first_name: 'Lin', last_name: 'Muster', licence: { number: 'D7654321', country: 'US', region: 'TX', expires_on: '2031-01-01' } });
	const now = Math.floor(Date.now() / 60_000) * 60_000;
	const booking = await made('/v1/bookings', {
		vehicle_class_id: small, customer_id: customer, confirm: true, pickup_at: new Date(now + 10 * 60_000).toISOString(), return_at: new Date(now + 2 * 86_400_000).toISOString(),
	});
	const narrow = async (name: string) => {
		expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), name).toBe(true);
		await accessible(page);
		await page.screenshot({ path: test.info().outputPath(`${name}.png`), fullPage: true });
	};

	await enter(page, `/bookings/${booking}`);
	await page.getByRole('button', { name: 'Give it a vehicle' }).click();
	await page.getByLabel('Vehicle', { exact: true }).selectOption({ label: `Amber ${mark} · Seat Ibiza` }); // the only one of the class, which the booking has
	await narrow('give');
	await page.getByRole('button', { name: 'Give it a vehicle' }).last().click();
	await expect(page.getByRole('link', { name: `Amber ${mark}` })).toBeVisible();
	// The answer is lost once the payment was noted: to note it again notes no second one, of which its refund would tell.
	await page.getByRole('button', { name: 'Take a payment' }).click();
	await page.route('**/payments', async (route) => {
		await route.fetch();
		await route.abort();
	}, { times: 1 });
	const pay = page.getByRole('button', { name: 'Note the payment' });
	await pay.click();
	await expect(page.getByRole('alert')).toBeVisible();
	await pay.click();
	await expect(pay).toHaveCount(0);
	await expect(page.getByText('Paid', { exact: true }).first()).toBeVisible();
	expect(faults.splice(0).filter((fault) => !fault.includes('ERR_FAILED'))).toEqual([]);

	await page.getByRole('link', { name: 'Pickup', exact: true }).click();
	await page.getByLabel(/^Odometer/).fill('12000');
	await page.getByRole('button', { name: 'Full' }).click();
	await page.getByRole('button', { name: 'Hand it over' }).click();
	await expect(page.getByText('Active', { exact: true })).toBeVisible();

	await page.getByRole('button', { name: 'Swap the vehicle' }).click();
	await page.getByLabel('Also of other classes').check();
	await page.getByLabel('Vehicle instead').selectOption({ label: `Cedar ${mark} · Seat Ibiza` });
	const back = page.getByRole('group', { name: `Comes back: Amber ${mark}` });
	const gone = page.getByRole('group', { name: `Goes out: Cedar ${mark}` });
	await back.getByLabel(/^Odometer/).fill('11000'); // less than at the pickup
	await back.getByLabel(/^Fuel/).fill('80');
	await gone.getByLabel(/^Odometer/).fill('500');
	await gone.getByLabel(/^Fuel/).fill('100');
	await page.getByRole('button', { name: 'Swap the vehicle' }).last().click();
	await expect(back.getByLabel(/^Odometer/)).toHaveAttribute('aria-invalid', 'true');
	await back.getByLabel(/^Odometer/).fill('12040');
	await narrow('swap');
	await page.getByRole('button', { name: 'Swap the vehicle' }).last().click();
	await expect(page.getByRole('link', { name: `Cedar ${mark}` })).toBeVisible();
	await expect(page.getByRole('definition').filter({ hasText: `Amber ${mark}` })).toContainText('until');

	await page.getByRole('button', { name: 'Correct', exact: true }).click();
	await page.getByRole('group', { name: `Comes back: Amber ${mark}` }).getByLabel(/^Odometer/).fill('12050');
	await page.getByLabel('Reason').fill('Misread');
	await narrow('correct');
	await page.getByRole('button', { name: 'Correct', exact: true }).last().click();
	await expect(page.getByRole('listitem').filter({ hasText: 'Misread' })).toBeVisible();

	await page.getByRole('link', { name: 'Return', exact: true }).click();
	await page.getByLabel(/^Odometer/).fill('560');
	await page.getByRole('button', { name: 'Full' }).click();
	await page.getByRole('button', { name: 'Take it back' }).click();
	await expect(page.getByText('Completed', { exact: true })).toBeVisible();

	await page.getByRole('button', { name: 'Change the bill' }).click();
	await page.getByLabel(/^Price of one/).fill('30');
	await page.getByRole('button', { name: 'Put it on the bill' }).click();
	const price = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Price', exact: true }) });
	const cleaning = price.getByRole('listitem').filter({ hasText: 'Cleaning' });
	await expect(cleaning).toContainText('$30.00');
	await page.getByRole('button', { name: 'Change the bill' }).click();
	await cleaning.getByRole('button', { name: 'Take back Cleaning' }).click();
	await narrow('bill');
	await cleaning.getByRole('button', { name: 'Take back', exact: true }).click();
	await expect(cleaning).toHaveCount(0);

	await page.getByRole('button', { name: /^Refund P-/ }).click();
	await page.getByLabel(/^Amount/).fill('20');
	await page.getByRole('button', { name: 'Give it back' }).click();
	await narrow('refund');
	await page.getByRole('button', { name: 'Give it back' }).click();
	await expect(page.getByText('$20.00 of it was given back.')).toBeVisible();
	expect(faults).toEqual([]);
});

test('a new business sets itself up in a day: a location, a class, a vehicle with its tracker, a booking with an extra, an expense', async ({ page, request }) => {
	test.setTimeout(240_000);
	const faults = watch(page);
	const usd = (amount: number) => ({ amount, currency: 'USD' });
	await post(request, '/v1/rate_plans', {
		name: `Setup ${mark}`, currency: 'USD', daily_rate: usd(5000), priority: 9, extras: [
			{ code: 'seat', name: 'Child seat', price: usd(500), per: 'day' }, { code: 'full', name: 'Full cover', kind: 'protection', price: usd(1200), per: 'day' },
		],
	});
	const save = () => page.getByRole('button', { name: 'Save' }).click();
	const tabs = page.getByRole('navigation', { name: 'Vehicles' });

	await enter(page, '/vehicles');
	await tabs.getByRole('link', { name: 'Locations' }).click();
	await page.getByRole('link', { name: 'New location' }).first().click();
	await page.getByLabel('Name', { exact: true }).fill(`Depot ${mark}`);
	await page.getByLabel('Code', { exact: true }).fill(`D${mark}`);
	await page.getByLabel('City').fill('Omaha');
	await page.getByLabel('Latitude').fill('41.25');
	await page.getByLabel('Longitude').fill('-95.94');
	await page.getByLabel('Time zone').fill('America/Nowhere');
	await page.getByRole('button', { name: 'Add times' }).click();
	const hours = page.getByRole('group', { name: 'Opening hours' });
	for (const day of ['Sat', 'Sun']) await hours.getByLabel(day).check();
	await hours.getByLabel('From').fill('00:00');
	await hours.getByLabel('Until').fill('00:00'); // the end of the day
	await save();
	await expect(page.getByLabel('Time zone')).toHaveAttribute('aria-invalid', 'true');
	await page.getByLabel('Time zone').fill('America/Chicago');
	await look(page, 'location');
	await save();
	await page.getByRole('link', { name: `Depot ${mark}` }).click();
	await expect(page.getByRole('heading', { name: `Depot ${mark}` })).toBeVisible();
	await expect(page.getByLabel('Latitude')).toHaveValue('41.25');
	await page.getByLabel('City').fill('');
	await page.getByLabel(/^Delivery/).fill('25');
	await save();
	await expect(page.getByRole('heading', { name: 'Locations' })).toBeVisible();
	const found = await get<{ data: Record<string, unknown>[] }>(request, `/v1/locations?code=D${mark}`);
	expect(found.data[0]).toMatchObject({
		lat: 41.25, lng: -95.94, timezone: 'America/Chicago', delivery_fee: usd(2500),
		opening_hours: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '00:00', until: '24:00' }],
	});
	await look(page, 'locations');

	await tabs.getByRole('link', { name: 'Classes' }).click();
	await page.getByRole('link', { name: 'New class' }).first().click();
	await page.getByLabel('Name', { exact: true }).fill(`City ${mark}`);
	await page.getByLabel('Code', { exact: true }).fill(`C${mark}`);
	await page.getByLabel('Description').fill('Small and easy to park.');
	await page.getByLabel('Rate plan').selectOption(`Setup ${mark}`);
	await page.getByLabel(/^Deposit/).fill('much');
	await save();
	await expect(page.getByLabel(/^Deposit/)).toHaveAttribute('aria-invalid', 'true');
	await page.getByLabel(/^Deposit/).fill('300');
	await look(page, 'class');
	await save();
	await expect(page.getByRole('link', { name: `City ${mark}` })).toBeVisible();

	await tabs.getByRole('link', { name: 'Vehicles' }).click();
	await page.getByRole('link', { name: 'New vehicle' }).first().click();
	await page.getByLabel('Make').fill('Fiat');
	await page.getByLabel('Model').fill('Panda');
	await page.getByLabel('Name', { exact: true }).fill(`Poppy ${mark}`);
	await page.getByLabel('Class').selectOption(`City ${mark}`);
	await page.getByLabel('Home location').selectOption(`Depot ${mark}`);
	await save();
	await expect(page.getByRole('heading', { name: `Poppy ${mark}` })).toBeVisible();

	await page.getByRole('link', { name: 'New tracker' }).click();
	await page.getByLabel('Its number').fill(`set-${mark}`);
	await page.getByLabel('Model').fill('FMC130');
	await expect(page.getByLabel('On the vehicle').locator('option:checked')).toHaveText(`Poppy ${mark}`);
	await look(page, 'tracker');
	await save();
	const tracker = page.getByRole('link').filter({ hasText: `set-${mark}` });
	await expect(tracker).toContainText(`Poppy ${mark}`);
	await look(page, 'trackers');
	await tracker.click();
	await page.getByLabel('On the vehicle').selectOption('');
	await expect(page.getByText('What it reports from now on is of no vehicle.')).toBeVisible();
	await page.getByLabel('On the vehicle').selectOption(`Poppy ${mark}`);
	await page.getByLabel('Name', { exact: true }).fill(`Puck ${mark}`);
	await save();
	await page.getByRole('link', { name: `Puck ${mark}` }).click();
	await page.getByRole('button', { name: 'Archive' }).click();
	await page.getByRole('button', { name: 'Not now' }).click();

	const customer = (await post(request, '/v1/customers', { first_name: 'Noa', last_name: `Setup ${mark}`, licence: { number: 'D7654321', country: 'US', region: 'TX', expires_on: '2031-01-01' } })).id;
	await show(page, `/bookings/new?customer=${customer}`);
	await page.getByRole('radio', { name: `Poppy ${mark}` }).check();
	await page.getByLabel('Child seat, how many').fill('2');
	await page.getByLabel('Protection', { exact: true }).selectOption({ index: 1 });
	const price = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Price', exact: true }) });
	await expect(price.getByRole('listitem').filter({ hasText: 'Child seat' })).toContainText('$30.00');
	await expect(price.getByRole('listitem').filter({ hasText: 'Full cover' })).toContainText('$36.00');
	await look(page, 'booking');
	await page.getByRole('button', { name: 'Book and confirm' }).click();
	await expect(page).toHaveURL(/\/bookings\/bkg_/);
	await expect(page.getByText('Child seat').first()).toBeVisible();

	await show(page, '/vehicles');
	await page.getByRole('searchbox').fill(`Poppy ${mark}`);
	await page.getByRole('link', { name: `Poppy ${mark}` }).click();
	await page.getByRole('link', { name: 'New expense' }).click();
	await page.getByLabel('Kind').selectOption('Tires');
	await page.getByLabel(/^Amount/).fill('0');
	await save();
	await expect(page.getByLabel(/^Amount/)).toHaveAttribute('aria-invalid', 'true');
	await page.getByLabel(/^Amount/).fill('480.50');
	await page.getByLabel('Description').fill('Four winter tires');
	await look(page, 'expense');
	await save();
	await expect(page.getByRole('heading', { name: 'Tires, $480.50' })).toBeVisible();
	await page.getByRole('link', { name: 'Show what was posted' }).click();
	await expect(page.getByRole('cell', { name: '$480.50', exact: true })).toBeVisible();
	await page.getByRole('navigation', { name: 'Money' }).getByRole('link', { name: 'Expenses' }).click();
	await page.getByRole('link').filter({ hasText: 'Four winter tires' }).click();
	await page.getByLabel('Reason').fill('Written twice');
	await page.getByRole('button', { name: 'Void' }).click();
	await page.getByRole('group', { name: 'Void' }).getByRole('button', { name: 'Void' }).click();
	await expect(page.getByText('Written twice')).toBeVisible();
	await expect(page.getByText('Voided').first()).toBeVisible();
	await look(page, 'voided');
	await page.getByRole('link', { name: 'All expenses of the vehicle' }).click();
	await expect(page.getByRole('link').filter({ hasText: 'Four winter tires' })).toContainText('Voided');
	await look(page, 'expenses');

	// A class that a vehicle is of stays, and the vehicle is called by its name.
	await show(page, '/vehicles/classes');
	await page.getByRole('link', { name: `City ${mark}` }).click();
	await page.getByRole('button', { name: 'Archive' }).click();
	await page.getByRole('group', { name: 'Archive' }).getByRole('button', { name: 'Archive' }).click();
	await expect(page.getByRole('alert')).toContainText(`Poppy ${mark}`);
	expect(faults).toEqual([]);
});
