import { expect, test, type APIRequestContext, type Page } from '@playwright/test';
import { accessible, clickAt, enter, get, key, post, watch } from './own';

// The pages beside the map: fences, heat, rules, share links. In each theme and size, and in each language.

const hostile = '<img src=x onerror=alert(1)>';
const mark = Date.now().toString(36);
let vehicle = '';
let share = ''; // the address of a link to it

/** A vehicle that drove for a quarter of an hour, a fence with a hole, and a rule. Made once. */
async function furnish(request: APIRequestContext) {
	if (vehicle) return vehicle;
	vehicle = (await post(request, '/v1/vehicles', { make: 'Renault', model: 'Zoe', nickname: `Bee ${mark}`, license_plate: `PL ${mark}` })).id;
	const device = await post(request, '/v1/devices', { unique_id: `place-${mark}` });
	await post(request, `/v1/devices/${device.id}/assign`, { vehicle_id: vehicle });
	const begin = Date.now() - 20 * 60_000;
	await post(request, '/v1/positions', Array.from({ length: 90 }, (_, i) => ({
		unique_id: `place-${mark}`, fix_at: new Date(begin + i * 10_000).toISOString(), lat: 30.25 + i * 0.0009, lng: -97.75 + Math.sin(i / 8) / 200,
		speed_mph: 22 + 10 * Math.sin(i / 5), course_deg: 10, ignition: true,
	})));
	await post(request, '/v1/geofences', {
		name: `${hostile} ${mark}`, color: '#b93a32',
		geometry: { type: 'Polygon', coordinates: [[[-97.77, 30.27], [-97.73, 30.27], [-97.73, 30.3], [-97.77, 30.3], [-97.77, 30.27]], [[-97.745, 30.28], [-97.735, 30.28], [-97.735, 30.29], [-97.745, 30.28]]] },
	});
	await post(request, '/v1/alert_rules', { name: `Fast ${mark}`, kind: 'speeding', threshold_mph: 30 });
	share = (await post<{ url: string }>(request, '/v1/share_links', { vehicle_id: vehicle, expires_at: new Date(Date.now() + 3_600_000).toISOString(), show: ['plate', 'speed', 'trail'] })).url;
	return vehicle;
}

test('a fence is written by keyboard, previewed, renamed and archived', async ({ page, request }) => {
	const faults = watch(page);
	await furnish(request);
	await enter(page, '/fences/new');
	await page.getByRole('button', { name: 'Circle' }).focus();
	await page.keyboard.press('Enter');
	await page.getByText('Write it as places').focus();
	await page.keyboard.press('Enter');
	await page.getByLabel('Places, one in each line').fill('nowhere');
	await expect(page.getByText('Line 1 is no place')).toBeVisible();
	await page.getByLabel('Places, one in each line').fill('30.29, -97.75');
	await page.getByLabel('Radius in feet').fill('3000');
	await page.getByLabel('Radius in feet').blur();
	await expect(page.getByText(/Vehicles: 1\. Times inside: 1/)).toBeVisible();
	await page.getByLabel('Name of the fence').fill(`Yard ${mark}`);
	await page.getByRole('button', { name: 'Save' }).click();
	await page.getByRole('link', { name: new RegExp(`Yard ${mark}`) }).click();
	await page.getByLabel('Name of the fence').fill(`Court ${mark}`);
	await page.getByRole('button', { name: 'Save' }).click();
	await page.getByRole('link', { name: new RegExp(`Court ${mark}`) }).click();
	await expect(page.getByLabel('Radius in feet')).toHaveValue('3000');
	await page.getByLabel('Units').selectOption('metric');
	await expect(page.getByLabel('Radius in metres')).toHaveValue('914.4');
	await page.getByRole('button', { name: 'Archive' }).click();
	await page.getByRole('button', { name: 'Archive' }).last().click();
	await expect(page.getByRole('heading', { name: 'Fences' })).toBeVisible();
	await expect(page.getByRole('link', { name: new RegExp(`Court ${mark}`) })).toHaveCount(0);
	expect(faults).toEqual([]);
});

test('a corridor is drawn, a corner of it is dragged, which is undone, and dragged again and kept', async ({ page, request }) => {
	const faults = watch(page);
	await enter(page, '/fences/new?view=47.4,9.5,14');
	await page.getByRole('button', { name: 'Corridor' }).click();
	await expect(page.locator('.maplibregl-canvas')).toHaveCSS('cursor', 'crosshair'); // it can be drawn on
	await page.getByText('Write it as places').click();
	const places = page.getByLabel('Places, one in each line');
	const corners = async () => (await places.inputValue()).split('\n').map((line) => line.split(', ').map(Number));
	await clickAt(page, [[-120, -60], [0, 40], [120, -60], [120, -60]]);
	await expect(places).toHaveValue(/^(\S+, \S+\n){2}\S+, \S+$/);
	const drawn = await corners();
	expect(drawn[0]![0]).toBeGreaterThan(drawn[1]![0]!); // north of the one in the middle
	expect(drawn[2]![1]).toBeGreaterThan(drawn[1]![1]!); // east of it

	await page.getByRole('button', { name: 'Change', exact: true }).click();
	await clickAt(page, [[-60, -10]]); // on the line
	const box = (await page.getByRole('region', { name: 'Map of the fences' }).boundingBox())!;
	const at = (x: number, y: number) => [box.x + box.width / 2 + x, box.y + box.height / 2 + y] as const;
	await page.mouse.move(...at(0, 40));
	await page.mouse.down();
	await page.mouse.move(...at(0, 100), { steps: 8 });
	await page.mouse.up();
	await expect(async () => expect((await corners())[1]![0]).toBeLessThan(drawn[1]![0]!)).toPass(); // the corner went south
	const dragged = await corners();
	expect([dragged[0], dragged[2]]).toEqual([drawn[0], drawn[2]]);
	await page.getByRole('button', { name: 'Undo' }).click();
	await expect(async () => expect(await corners()).toEqual(drawn)).toPass();
	await clickAt(page, [[-60, -10]]);
	await page.mouse.move(...at(0, 40));
	await page.mouse.down();
	await page.mouse.move(...at(0, 100), { steps: 8 });
	await page.mouse.up();
	await expect(async () => expect((await corners())[1]![0]).toBeCloseTo(dragged[1]![0]!, 3)).toPass();
	await page.getByLabel('Width in feet').fill('300');
	await page.getByLabel('Width in feet').blur();
	const kept = await corners();
	await page.getByLabel('Name of the fence').fill(`Way ${mark}`);
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath('corridor.png') });
	await page.getByRole('button', { name: 'Save' }).click();
	await page.getByRole('link', { name: new RegExp(`Way ${mark}`) }).click();
	await expect(page.getByLabel('Width in feet')).toHaveValue('300');
	const id = page.url().split('/').pop()!.split('?')[0];
	const { geometry } = await get<{ geometry: { type: string; coordinates: number[][]; width_m: number } }>(request, `/v1/geofences/${id}`);
	expect(geometry.type).toBe('Corridor');
	expect(geometry.width_m).toBeCloseTo(91.44, 2);
	expect(geometry.coordinates.map(([lng, lat]) => [lat, lng])).toEqual(kept);
	expect(faults).toEqual([]);
});

/** Drags something on the map of the fences, by pixels from its middle. */
async function drag(page: Page, from: [number, number], to: [number, number]) {
	const box = (await page.getByRole('region', { name: 'Map of the fences' }).boundingBox())!;
	const at = ([x, y]: [number, number]) => [box.x + box.width / 2 + x, box.y + box.height / 2 + y] as const;
	await page.mouse.move(...at(from));
	await page.mouse.down();
	await page.mouse.move(...at(to), { steps: 8 });
	await page.mouse.up();
}

test('corners of a polygon and of a hole in it are dragged and kept', async ({ page, request }) => {
	const faults = watch(page);
	await enter(page, '/fences/new?view=47.4,9.5,14');
	await expect(page.locator('.maplibregl-canvas')).toHaveCSS('cursor', 'crosshair');
	await clickAt(page, [[-150, -100], [150, -100], [150, 100], [-150, 100], [-150, 100]]);
	await clickAt(page, [[-40, -40], [40, -40], [0, 30], [0, 30]]); // a hole
	const shape = async (name: string) => {
		await page.getByLabel('Name of the fence').fill(name);
		await page.getByRole('button', { name: 'Save' }).click();
		await page.getByRole('link', { name: new RegExp(name) }).click();
		await expect(page.getByLabel('Name of the fence')).toHaveValue(name);
		const id = page.url().split('/').pop()!.split('?')[0];
		return (await get<{ geometry: { type: string; coordinates: [number, number][][] } }>(request, `/v1/geofences/${id}`)).geometry;
	};
	const drawn = await shape(`Yard with a hole ${mark}`);
	expect([drawn.type, drawn.coordinates.map((ring) => ring.length)]).toEqual(['Polygon', [5, 4]]);
	const east = (ring: [number, number][]) => Math.max(...ring.map(([lng]) => lng)), south = (ring: [number, number][]) => Math.min(...ring.map(([, lat]) => lat));

	await enter(page, '/fences/new?view=47.4,9.5,14');
	await expect(page.locator('.maplibregl-canvas')).toHaveCSS('cursor', 'crosshair');
	await clickAt(page, [[-150, -100], [150, -100], [150, 100], [-150, 100], [-150, 100]]);
	await clickAt(page, [[-40, -40], [40, -40], [0, 30], [0, 30]]);
	await page.getByRole('button', { name: 'Change', exact: true }).click();
	await clickAt(page, [[-100, 60]]); // in the ring, beside the hole
	await drag(page, [150, 100], [210, 140]);
	await clickAt(page, [[0, -10]]); // in the hole
	await drag(page, [0, 30], [0, 70]);
	await page.screenshot({ path: test.info().outputPath('hole.png') });
	const dragged = await shape(`Yard that was changed ${mark}`);
	expect([dragged.type, dragged.coordinates.map((ring) => ring.length)]).toEqual(['Polygon', [5, 4]]);
	const [ring, hole] = dragged.coordinates as [[number, number][], [number, number][]];
	const [before, around] = drawn.coordinates as [[number, number][], [number, number][]];
	expect(east(ring)).toBeGreaterThan(east(before));
	expect(south(ring)).toBeLessThan(south(before));
	expect(south(hole)).toBeLessThan(south(around));
	expect(east(hole)).toBeCloseTo(east(around), 4);
	expect(faults).toEqual([]);
});

test('a circle is dragged to another size about its middle', async ({ page, request }) => {
	const faults = watch(page);
	await enter(page, '/fences/new?view=47.4,9.5,14');
	await page.getByRole('button', { name: 'Circle' }).click();
	await expect(page.locator('.maplibregl-canvas')).toHaveCSS('cursor', 'crosshair');
	await clickAt(page, [[0, 0], [80, 0]]);
	const radius = page.getByLabel('Radius in feet');
	await expect(radius).toHaveValue(/\d/);
	const drawn = Number(await radius.inputValue());
	await page.getByRole('button', { name: 'Change', exact: true }).click();
	await clickAt(page, [[20, 20]]);
	await drag(page, [0, -80], [0, -120]);
	await expect(async () => expect(Number(await radius.inputValue()) / drawn).toBeCloseTo(1.5, 1)).toPass();
	const wide = Number(await radius.inputValue());
	await page.getByLabel('Name of the fence').fill(`Round ${mark}`);
	await page.getByRole('button', { name: 'Save' }).click();
	await page.getByRole('link', { name: new RegExp(`Round ${mark}`) }).click();
	const id = page.url().split('/').pop()!.split('?')[0];
	const { geometry } = await get<{ geometry: { type: string; center: number[]; radius_m: number } }>(request, `/v1/geofences/${id}`);
	expect(geometry.type).toBe('Circle');
	expect(geometry.radius_m).toBeCloseTo(wide * 0.3048, 0);
	expect([geometry.center[0]!, geometry.center[1]!]).toEqual([expect.closeTo(9.5, 3), expect.closeTo(47.4, 3)]);
	expect(faults).toEqual([]);
});

test('fences come in from GeoJSON, and what cannot is named', async ({ page }) => {
	const faults = watch(page);
	await enter(page, '/fences');
	const ring = [[-97.8, 30.2], [-97.79, 30.2], [-97.79, 30.21], [-97.8, 30.2]];
	const file = (features: unknown[]) => ({ name: 'areas.geojson', mimeType: 'application/geo+json', buffer: Buffer.from(JSON.stringify({ type: 'FeatureCollection', features })) });
	const polygons = { type: 'Feature', properties: { name: `Parts ${mark}` }, geometry: { type: 'MultiPolygon', coordinates: [[ring], [ring.map(([x = 0, y = 0]) => [x + 0.05, y])]] } };
	await page.locator('input[type=file]').setInputFiles(file([polygons, { type: 'Feature', properties: { name: 'Broken' }, geometry: { type: 'Polygon', coordinates: [[[0, 0], [1, 1]]] } }]));
	await expect(page.getByText('Fences that came in: 1. That could not: 1.')).toBeVisible();
	await expect(page.getByText('Number 2:')).toBeVisible();
	await page.getByRole('link', { name: new RegExp(`Parts ${mark}`) }).click();
	await page.getByText('Write it as places').click();
	await expect(page.getByLabel('Places, one in each line')).toHaveValue(/\n\n/);
	await page.goBack();
	await page.locator('input[type=file]').setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no') });
	await expect(page.getByRole('alert')).toContainText('notes.txt is no GeoJSON');
	expect(faults).toEqual([]);
});

test('heat of 60 days is asked for in parts and added up', async ({ page, request }) => {
	const faults = watch(page);
	const { id } = await post(request, '/v1/vehicles', { make: 'Renault', model: 'Zoe', nickname: `Mayfly ${mark}`, license_plate: `HT ${mark}` });
	const device = await post(request, '/v1/devices', { unique_id: `heat-${mark}` });
	await post(request, `/v1/devices/${device.id}/assign`, { vehicle_id: id });
	const ago = (days: number) => new Date(Date.now() - days * 86_400_000);
	const stay = (days: number, fixes: number, lat: number) => Array.from({ length: fixes }, (_, i) => ({
		unique_id: `heat-${mark}`, fix_at: new Date(ago(days).getTime() + i * 200_000).toISOString(), lat, lng: 9.5, speed_mph: 0, course_deg: 0,
	}));
	// A place of the first month alone, where it was for half an hour, and one of both months, where it was for 20 minutes and for 10.
	await post(request, '/v1/positions', [...stay(55, 10, 47.2), ...stay(50, 7, 47.6), ...stay(5, 4, 47.6)]);
	await expect(async () => {
		const span = `vehicle_id=${id}&resolution=5&from=${ago(6).toISOString()}&until=${ago(4).toISOString()}`;
		expect((await get<{ data: { fixes: number }[] }>(request, `/v1/heatmap?${span}`)).data.map((c) => c.fixes)).toEqual([4]);
	}).toPass();
	const asked: number[] = []; // of how many days each request was
	page.on('request', (r) => {
		const of = new URL(r.url());
		if (of.pathname === '/v1/heatmap') asked.push((Date.parse(of.searchParams.get('until') ?? '') - Date.parse(of.searchParams.get('from') ?? '')) / 86_400_000);
	});
	let go = () => {};
	const held = new Promise<void>((done) => (go = done));
	await page.route(/\/v1\/heatmap/, async (route) => {
		if (asked.length > 1) await held; // the second part waits, so that the page is seen to wait for it
		await route.continue();
	});
	const day = (of: Date) => of.toISOString().slice(0, 10);
	await enter(page, `/heat?from=${day(ago(59))}&until=${day(ago(0))}&cells=8&by=fixes&vehicle=${id}`);
	await expect(page.getByText('Loading: 1 of 2 parts is here.')).toBeVisible();
	go();
	const cell = (lat: string) => page.getByRole('listitem').filter({ has: page.getByRole('button', { name: new RegExp(`^${lat}`) }) });
	await expect(cell('47\\.(19|20)')).toContainText('10 positions');
	await expect(cell('47\\.(59|60)')).toContainText('11 positions');
	expect(asked.map((days) => Math.round(days))).toEqual([31, 29]);
	await page.getByLabel('Coloured by').selectOption('seconds');
	await expect(cell('47\\.(19|20)')).toContainText('0.6 h'); // 9 times 200 s, and 300 s at most until it was elsewhere
	await expect(cell('47\\.(59|60)')).toContainText('0.5 h'); // 6 and 3 times 200 s, and nothing for the last report of each part
	await page.getByLabel('Coloured by').selectOption('vehicles');
	await expect(cell('47\\.(59|60)')).toContainText(/^[^≥]*1 vehicle$/);
	await expect(page.getByText('here 2, and added up')).toBeVisible();
	await expect(page.getByText('there were at least as many')).toHaveCount(0);
	await page.getByRole('combobox', { name: 'Vehicle' }).selectOption('');
	await expect(page.getByText('there were at least as many')).toBeVisible();
	await expect(page.getByText(/cells, the hottest ≥ \d/)).toBeVisible();
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath('heat.png') });
	expect(faults).toEqual([]);
});

test('a share link shows a stranger the place and the plate, and nothing more, until it is revoked', async ({ page, browser, request }) => {
	const faults = watch(page);
	const id = await furnish(request);
	await enter(page, `/shares?vehicle=${id}`);
	await page.getByLabel('For whom').fill(`Note ${mark}`);
	await page.getByRole('button', { name: 'Make the link' }).click();
	const link = await page.getByLabel('The link. It is shown this once.').inputValue();
	expect(link).toMatch(/\/share#[0-9A-Za-z]{32}$/);
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath('shares.png') });

	const stranger = await browser.newContext({ viewport: { width: 390, height: 844 }, locale: 'de-DE' });
	const theirs = await stranger.newPage();
	const seen = watch(theirs);
	const asked: string[] = [];
	theirs.on('request', (r) => asked.push(r.url()));
	await theirs.goto(link);
	await expect(theirs.getByRole('heading', { name: `PL ${mark}` })).toBeVisible();
	await expect(theirs.getByText(/Gesehen/)).toBeVisible();
	await expect(theirs.getByText(/30\.33/)).toBeVisible();
	expect(await theirs.content()).not.toContain('Bee');
	expect(await theirs.content()).not.toContain('Note');
	expect(asked.filter((url) => url.includes('maplibre') || url.includes(link.split('#')[1] ?? '-'))).toEqual([]);
	await accessible(theirs);
	await theirs.screenshot({ path: test.info().outputPath('shared.png') });

	await page.getByRole('listitem').filter({ hasText: `Note ${mark}` }).getByRole('button', { name: 'Revoke' }).click();
	await expect(page.getByRole('listitem').filter({ hasText: `Note ${mark}` })).toHaveCount(0);
	await expect(theirs.getByText(/Dieser Link zeigt nichts/)).toBeVisible({ timeout: 30_000 });
	expect(await theirs.content()).not.toContain(`PL ${mark}`);
	expect([...faults, ...seen.filter((fault) => !fault.includes('404'))]).toEqual([]);
	await stranger.close();
});

const pages = { fences: '/fences', fence: '/fences/new', heat: '/heat?cells=8', rules: '/rules', rule: '/rules/new', shares: '/shares' };
const locales = { en: 'en-US', de: 'de-DE', es: 'es-ES' };
let turn = 0;
for (const theme of ['light', 'dark'] as const) {
	for (const [size, viewport] of Object.entries({ desk: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } })) {
		const [language, locale] = Object.entries(locales)[turn++ % 3] ?? ['en', 'en-US'];
		test(`the pages beside the map can be read: ${theme}, ${size}, ${language}`, async ({ browser, request }) => {
			await furnish(request);
			const context = await browser.newContext({ colorScheme: theme, viewport, locale });
			const page = await context.newPage();
			const faults = watch(page);
			for (const [name, path] of Object.entries({ ...pages, shared: share })) {
				await page.goto(path);
				if (name === 'shared') await expect(page.getByRole('heading', { name: `PL ${mark}` })).toBeVisible(); // to a stranger
				else {
					await page.locator('input[type=password]').fill(key);
					await page.locator('form button').click();
					await expect(page.locator('h1').first()).toBeVisible();
					await page.waitForTimeout(2500); // the map draws
				}
				await page.screenshot({ path: test.info().outputPath(`${name}.png`), fullPage: true });
				expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), name).toBe(true);
				await accessible(page);
			}
			expect(faults).toEqual([]);
			await context.close();
		});
	}
}
