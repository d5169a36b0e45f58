import { execFileSync } from 'node:child_process';
import { expect, test } from '@playwright/test';
import { enter, post, show, watch } from './own';

// A business that counts in euros, on Berlin's clock, looked at by a browser that stands in New York.

const mark = Date.now().toString(36);
const eur = (amount: number) => ({ amount, currency: 'EUR' });

test("a business in euros and on Berlin's clock has both on each page of its day", async ({ browser, request }) => {
	const key = execFileSync(process.env['MOTORPOOL'] ?? 'motorpool', ['key', 'create', '--account', `Fuhrpark ${mark}`, '--scopes', 'admin'], { encoding: 'utf8' }).trim();
	const set = await request.patch('/v1/account', { headers: { Authorization: `Bearer ${key}` }, data: { timezone: 'Europe/Berlin', currency: 'EUR' } });
	expect(set.ok(), await set.text()).toBe(true);
	const plan = (await post(request, '/v1/rate_plans', { name: `Woche ${mark}`, currency: 'EUR', daily_rate: eur(6050) }, key)).id;
	const kind = (await post(request, '/v1/vehicle_classes', { name: `Kombi ${mark}`, code: `K${mark}`, rate_plan_id: plan }, key)).id;
	const car = (await post(request, '/v1/vehicles', { make: 'Opel', model: 'Astra', nickname: `Astra ${mark}`, vehicle_class_id: kind }, key)).id;
	const customer = (await post(request, '/v1/customers', { display_name: `Ida ${mark}` }, key)).id;
	// Ten o'clock in Berlin, and four in the morning in New York: once in summer, and once in winter.
	const summer = await post(request, '/v1/bookings', { vehicle_id: car, customer_id: customer, pickup_at: '2031-07-10T08:00:00Z', return_at: '2031-07-13T08:00:00Z', confirm: true }, key);
	const winter = await post(request, '/v1/bookings', { vehicle_id: car, customer_id: customer, pickup_at: '2031-01-10T09:00:00Z', return_at: '2031-01-12T09:00:00Z', confirm: true }, key);
	await post(request, '/v1/expenses', { category: 'fuel', status: 'posted', vehicle_id: car, amount: eur(123456), incurred_on: '2026-10-25' }, key);
	for (const [locale, three, two, fuel] of [['de-DE', /181,50\s€/, /121,00\s€/, /1\.234,56\s€/], ['en-US', /€181\.50/, /€121\.00/, /€1,234\.56/]] as const) {
		const context = await browser.newContext({ locale, timezoneId: 'America/New_York' });
		const page = await context.newPage();
		const faults = watch(page);
		await enter(page, '/vehicles', key);
		const main = page.locator('main');
		for (const [booking, sum] of [[summer, three], [winter, two]] as const) {
			await show(page, `/bookings/${booking.id}`);
			await expect(main).toContainText(sum);
			await expect(main).toContainText(/10:00/);
			await expect(main).not.toContainText(/(?<!\d)0?[34]:00/);
		}
		await page.screenshot({ path: test.info().outputPath(`booking-${locale}.png`), fullPage: true });
		await show(page, `/bookings?view=list&q=${mark}`);
		await expect(main).toContainText(three);
		await expect(main).not.toContainText(/(?<!\d)0?[34]:00/);
		await show(page, '/money/expenses');
		await expect(main).toContainText(fuel);
		await show(page, `/money/rates/${plan}`);
		await expect(main).toContainText(/60[.,]50/);
		for (const at of [`/vehicles/${car}`, `/customers/${customer}`, '/bookings', '/money', '/money/entries', '/money/rates', '/money/papers', '/money/tolls', '/money/reports', '/maintenance']) {
			await show(page, at);
			await expect(main, at).not.toContainText(/\$|USD/);
			await page.screenshot({ path: test.info().outputPath(`${at.replaceAll('/', '-')}-${locale}.png`) });
		}
		expect(faults).toEqual([]);
		await context.close();
	}
});
