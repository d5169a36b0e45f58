import { readFile } from 'node:fs/promises';
import { expect, test, type APIRequestContext } from '@playwright/test';
import { accessible, clockOf, enter, get, key, post, watch } from './own';

// The map of a real server, in a real browser: what is sent as a tracker sends it is seen as people see it.

const hostile = '<img src=x onerror=alert(1)>';
const mark = Date.now().toString(36); // another where a test is tried once more

/** Makes a vehicle with a tracker, and returns what sends a place of it. */
async function tracked(request: APIRequestContext, nickname: string, plate: string) {
	const vehicle = await post(request, '/v1/vehicles', { make: 'Renault', model: 'Zoe', nickname, license_plate: `${plate} ${mark}` });
	const device = await post(request, '/v1/devices', { unique_id: `page-${plate}-${mark}` });
	await post(request, `/v1/devices/${device.id}/assign`, { vehicle_id: vehicle.id });
	return (lat: number, lng: number, mph: number, secondsAgo = 0) =>
		post(request, '/v1/positions', {
			unique_id: `page-${plate}-${mark}`, fix_at: new Date(Date.now() - secondsAgo * 1000).toISOString(),
			lat, lng, speed_mph: mph, course_deg: 90, ignition: mph > 0,
		});
}

test('a vehicle is seen to move, and its day is played back', async ({ page, request }) => {
	const faults = watch(page);
	const drive = await tracked(request, 'Wasp', 'PG 1');
	const other = await tracked(request, hostile, 'PG 2');
	for (let i = 0; i < 30; i++) await drive(30.26 + i / 2000, -97.74, 30, (31 - i) * 10);
	await other(30.3, -97.7, 0, 5);
	await enter(page);

	const row = page.getByRole('button', { name: `PG 1 ${mark}` });
	await expect(row).toContainText('30 mph');
	const strange = page.getByRole('button', { name: `PG 2 ${mark}` }); // as other tests have names like it
	await expect(strange).toContainText(hostile);
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath('map.png') });

	await drive(30.28, -97.74, 55);
	await expect(row).toContainText('55 mph');

	await page.getByRole('searchbox').fill(`pg1${mark}`);
	await expect(strange).toBeHidden();
	await row.click();
	await expect(page).toHaveURL(/q=pg1[0-9a-z]+&vehicle=veh_/);
	await expect(page.getByRole('heading', { name: 'Wasp' })).toBeFocused();
	await expect(page.getByRole('button', { name: 'Play' })).toBeEnabled();
	await page.getByRole('slider').focus();
	await page.keyboard.press('End');
	await expect(page.locator('output')).toContainText(/(30|55) mph/);
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath('vehicle.png') });
	expect(faults).toEqual([]);
});

test('what happened on a day stands on the slider and the charts, with as many signals as one wants', async ({ page, request }) => {
	const faults = watch(page);
	const { id } = await post(request, '/v1/vehicles', { make: 'Renault', model: 'Zoe', nickname: 'Cicada', license_plate: `PG 7 ${mark}` });
	const device = await post(request, '/v1/devices', { unique_id: `page-day-${mark}` });
	await post(request, `/v1/devices/${device.id}/assign`, { vehicle_id: id });
	const clock = await clockOf(request);
	const day = (of: number) => clock(of).slice(0, 10);
	const latest = Math.floor((Date.now() - 70 * 60_000) / 1_800_000) * 1_800_000; // as the chart has three minutes of the clock as one
	const begin = day(latest) === day(latest + 50 * 60_000) ? latest : latest - 3_600_000; // all of it on one day
	// It drives for twenty minutes, stands for ten, brakes hard, and drives on.
	const at = (i: number) => (i < 120 ? i : i < 180 ? 120 : i - 60);
	await post(request, '/v1/positions', Array.from({ length: 300 }, (_, i) => ({
		unique_id: `page-day-${mark}`, fix_at: new Date(begin + i * 10_000).toISOString(), lat: 30.26 + at(i) / 1000, lng: -97.74, course_deg: 0,
		speed_mph: i >= 120 && i < 180 ? 0 : 25, ignition: i < 120 || i >= 180, ...(i === 220 ? { alarm: 'hardBraking' } : {}),
		signals: { soc_pct: 90 - i / 10, ambient_temp_c: 20, range_m: 160_934.4 - i * 100 },
	})));
	await expect(async () => {
		expect((await get<{ data: unknown[] }>(request, `/v1/stops?vehicle_id=${id}`)).data.length).toBeGreaterThan(0);
		expect((await get<{ data: unknown[] }>(request, `/v1/driving_events?vehicle_id=${id}`)).data.length).toBeGreaterThan(0);
	}).toPass({ timeout: 60_000 });
	await enter(page, `/map?vehicle=${id}${day(begin) === day(Date.now()) ? '' : `&day=${day(begin)}`}`);

	const marks = page.getByRole('toolbar', { name: 'On this day' }).getByRole('button');
	const stop = marks.filter({ has: page.locator('svg.stop') }).first();
	await expect(stop).toHaveAccessibleName(/Stopped/);
	await stop.click();
	await expect(page).toHaveURL(/at=20/);
	await expect(page.locator('output')).toContainText(((await stop.getAttribute('aria-label')) ?? '').slice(0, 5));
	await stop.press('End');
	await expect(marks.last()).toBeFocused();
	await expect(page.getByRole('figure').getByRole('button', { name: /braking/i }).first()).toBeVisible();
	await page.getByText('Signals', { exact: true }).click();
	await page.getByRole('checkbox', { name: 'Ambient temp (°F)' }).check();
	await page.getByRole('checkbox', { name: 'Range (mi)' }).check();
	await expect(page).toHaveURL(/signal=ambient_temp_c%2Crange_m/);
	await expect(page.getByRole('img', { name: /Ambient temp .*68 °F/ })).toBeVisible();
	await expect(page.getByRole('img', { name: /Range .*98\.9 mi/ })).toBeVisible();
	await expect(page.locator('.maplibregl-ctrl-scale')).toContainText(/mi|ft/);
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath('day.png') });
	await page.getByLabel('Units').selectOption('metric');
	await expect(page.getByRole('img', { name: /Ambient temp .*20 °C/ })).toBeVisible();
	await expect(page.locator('.maplibregl-ctrl-scale')).toContainText(/\d\s?k?m$/);
	await page.emulateMedia({ colorScheme: 'dark' });
	await page.setViewportSize({ width: 390, height: 844 });
	expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
	await page.getByRole('slider').scrollIntoViewIfNeeded();
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath('day-dark.png') });
	expect(faults).toEqual([]);
});

test('the way of a day is saved as GPX', async ({ page, request }) => {
	const faults = watch(page);
	const { id } = await post(request, '/v1/vehicles', { make: 'Renault', model: 'Zoe', nickname: `Locust ${mark}`, license_plate: `PG 8 ${mark}` });
	const device = await post(request, '/v1/devices', { unique_id: `page-gpx-${mark}` });
	await post(request, `/v1/devices/${device.id}/assign`, { vehicle_id: id });
	const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
	const noon = Date.parse(`${day}T12:00:00Z`);
	const sent = Array.from({ length: 20 }, (_, i) => ({ at: new Date(noon + i * 10_000).toISOString(), lat: 30.26 + i / 1000, lng: -97.74 }));
	await post(request, '/v1/positions', sent.map(({ at, lat, lng }) => ({ unique_id: `page-gpx-${mark}`, fix_at: at, lat, lng, speed_mph: 25, course_deg: 0, ignition: true })));
	await expect(async () => {
		expect((await get<{ data: unknown[] }>(request, `/v1/vehicles/${id}/positions?from=${day}T00:00:00Z&until=${day}T23:00:00Z`)).data).toHaveLength(sent.length);
	}).toPass();
	await enter(page, `/map?vehicle=${id}&day=${day}`);
	await expect(page.getByRole('button', { name: 'Play' })).toBeVisible();
	const file = page.waitForEvent('download');
	await page.getByRole('button', { name: 'Download as GPX' }).click();
	expect((await file).suggestedFilename()).toBe(`Locust ${mark} ${day}.gpx`);
	// The browser reads it as the XML that it is.
	const found = await page.evaluate((text) => {
		const xml = new DOMParser().parseFromString(text, 'application/xml');
		const points = [...xml.getElementsByTagNameNS('http://www.topografix.com/GPX/1/1', 'trkpt')];
		return { root: xml.documentElement.nodeName, points: points.map((p) => ({ lat: Number(p.getAttribute('lat')), lng: Number(p.getAttribute('lon')), at: Date.parse(p.getElementsByTagName('time')[0]?.textContent ?? '') })) };
	}, await readFile(await (await file).path(), 'utf8'));
	expect(found.root).toBe('gpx');
	expect(found.points.map((p) => p.at)).toEqual(sent.map(({ at }) => Date.parse(at)));
	for (const [i, { lat, lng }] of sent.entries()) {
		expect(found.points[i]!.lat).toBeCloseTo(lat, 6);
		expect(found.points[i]!.lng).toBeCloseTo(lng, 6);
	}
	expect(faults).toEqual([]);
});

test('a place that comes while the vehicles are loaded is shown', async ({ page, request }) => {
	const faults = watch(page);
	const drive = await tracked(request, 'Sawfly', 'PG 9');
	let asked = 0;
	await page.route(/\/v1\/vehicles\?/, async (route) => {
		asked++;
		if (asked === 1) return route.fulfill({ json: { data: [], pagination: { next_cursor: 'more' } } }); // what is shown until the stream is there
		if (asked > 2) return route.continue();
		const answer = await route.fetch(); // without a place
		await drive(30.26, -97.74, 41);
		await page.waitForTimeout(3000); // in which the stream tells of it
		await route.fulfill({ response: answer });
	});
	await enter(page);
	await expect(page.getByRole('button', { name: `PG 9 ${mark}` })).toContainText('41 mph');
	expect(faults).toEqual([]);
});

test('an alert comes by itself, and somebody acknowledges it', async ({ page, request }) => {
	const faults = watch(page);
	await enter(page);
	const drive = await tracked(request, `Hornet ${mark}`, 'PG 3'); // which the page did not know when it began
	const { data } = await get<{ data: { id: string }[] }>(request, `/v1/vehicles?q=${encodeURIComponent(`Hornet ${mark}`)}`);
	await post(request, '/v1/alert_rules', { name: 'Fast', kind: 'speeding', threshold_mph: 60, severity: 'critical', scope: { vehicle_ids: data.map((v) => v.id) } });
	await page.getByRole('link', { name: 'Alerts' }).click();
	const alert = page.getByRole('listitem').filter({ hasText: `Hornet ${mark}` }).filter({ hasText: 'Critical' }); // rules of other tests may tell of it too
	const began = Date.now();
	await expect(async () => {
		await drive(30.2 + ((Date.now() - began) / 1000) * 0.00032, -97.6, 80); // a rule is about what comes after it
		await expect(alert).toContainText('Speeding', { timeout: 1000 });
	}).toPass({ timeout: 90_000 });
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath('alerts.png') });
	await alert.getByRole('button', { name: 'Acknowledge' }).click();
	await expect(alert).toContainText('Acknowledged');
	await alert.getByRole('button', { name: 'Show on the map' }).click();
	await expect(page.getByRole('heading', { name: `Hornet ${mark}` })).toBeVisible();
	expect(faults).toEqual([]);
});

for (const theme of ['light', 'dark'] as const) {
	for (const [size, viewport] of Object.entries({ desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } })) {
		test(`the pages can be read: ${theme}, ${size}`, async ({ browser }) => {
			const context = await browser.newContext({ colorScheme: theme, viewport, locale: 'de-DE' });
			const page = await context.newPage();
			const faults = watch(page);
			await page.goto('/map');
			await expect(page.getByRole('heading', { name: 'Anmelden' })).toBeVisible();
			await accessible(page);
			await page.screenshot({ path: test.info().outputPath('signin.png') });
			await page.getByLabel('API-Schlüssel', { exact: true }).fill(key);
			await page.getByRole('button', { name: 'Schlüssel verwenden' }).click();
			await expect(page.getByRole('button', { name: /Wasp/ }).first()).toBeVisible();
			expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
			await page.waitForTimeout(2000); // the map draws
			await page.screenshot({ path: test.info().outputPath('map.png') });
			await accessible(page);
			expect(faults).toEqual([]);
			await context.close();
		});
	}
}

test('a key that is none is said to be none, and nothing is shown', async ({ page }) => {
	await page.goto('/alerts');
	await page.getByLabel('API key', { exact: true }).fill('mp_live_none');
	await page.getByRole('button', { name: 'Use the key' }).click();
	await expect(page.getByRole('alert')).toContainText('not valid');
	await expect(page.getByRole('navigation')).toHaveCount(0);
});
