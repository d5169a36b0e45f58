import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, test, type Page } from '@playwright/test';
import { accessible, enter, watch } from './own';

// An operator's own basemap, by a second server on the engines of the first: a file that is made here, byte by byte.

/** A number as Protocol Buffers and PMTiles write it. */
function varint(n: number): number[] {
	return n < 128 ? [n] : [(n % 128) | 128, ...varint(Math.floor(n / 128))];
}
const field = (id: number, bytes: number[]) => [...varint((id << 3) | 2), ...varint(bytes.length), ...bytes];
const amount = (id: number, n: number) => [...varint(id << 3), ...varint(n)];
const text = (s: string) => [...Buffer.from(s)];
const zigzag = (n: number) => varint(n < 0 ? -2 * n - 1 : 2 * n);

/** A layer of a vector tile with one feature: a ring of places, or a line, of a kind. */
function layer(name: string, kind: string, type: 'line' | 'polygon', places: [number, number][]): number[] {
	const [first = [0, 0], ...others] = places;
	const geometry = [...varint((1 << 3) | 1), ...zigzag(first[0]), ...zigzag(first[1]), ...varint((others.length << 3) | 2)];
	let at = first;
	for (const place of others) {
		geometry.push(...zigzag(place[0] - at[0]), ...zigzag(place[1] - at[1]));
		at = place;
	}
	if (type === 'polygon') geometry.push(...varint((1 << 3) | 7));
	const feature = [...field(2, [0, 0]), ...amount(3, type === 'line' ? 2 : 3), ...field(4, geometry)];
	return field(3, [...amount(15, 2), ...field(1, text(name)), ...field(2, feature), ...field(3, text('kind')),
		...field(4, field(1, text(kind))), ...amount(5, 4096)]);
}

/** A box in a tile of 4096 steps, clockwise, as an outer ring goes. */
const box = (west: number, north: number, east: number, south: number): [number, number][] =>
	[[west, north], [east, north], [east, south], [west, south]];

/** A PMTiles file, version 3, of the tiles with the ids 0, 1, … (0/0/0 and 1/0/0). */
function pmtiles(tiles: Buffer[], type: number, compression: number, metadata: object): Buffer {
	const directory = gzipSync(Buffer.from([
		...varint(tiles.length), ...tiles.map((_, i) => (i ? 1 : 0)), ...tiles.map(() => 1), ...tiles.flatMap((t) => varint(t.length)),
		1, ...tiles.slice(1).map(() => 0), // the first begins at 0, each other one behind the one before
	]));
	const about = gzipSync(JSON.stringify(metadata));
	const data = Buffer.concat(tiles);
	const header = Buffer.alloc(127);
	header.write('PMTiles');
	header[7] = 3;
	let at = header.length;
	for (const [i, length] of [directory.length, about.length, 0, data.length].entries()) {
		header.writeBigUInt64LE(BigInt(at), 8 + 16 * i);
		header.writeBigUInt64LE(BigInt(length), 16 + 16 * i);
		at += length;
	}
	for (const place of [72, 80, 88]) header.writeBigUInt64LE(BigInt(tiles.length), place); // addressed, entries, contents
	header.set([1, 2, compression, type, 0, tiles.length - 1], 96); // in their order, gzip, of tiles, their type, zooms
	for (const [i, degrees] of [-180, -85, 180, 85].entries()) header.writeInt32LE(degrees * 1e7, 102 + 4 * i);
	return Buffer.concat([header, directory, about, data]);
}

// A lake in Kansas, which Natural Earth does not have, with a road to the east and a wood below that. East of Greenwich
// there is no tile of zoom 1, so that Natural Earth shows there.
const lake = layer('water', 'lake', 'polygon', box(1774, 3065, 1934, 3225));
const country = Buffer.from([...layer('earth', 'earth', 'polygon', box(1600, 2900, 2200, 3400)), ...lake,
	...layer('landuse', 'forest', 'polygon', box(1936, 3150, 1946, 3160)), ...layer('roads', 'highway', 'line', [[1934, 3140], [2000, 3142]])]);
const streets = pmtiles([gzipSync(Buffer.from(lake)), gzipSync(country)], 1, 2, {
	attribution: '<a href="https://elsewhere.example/">Streets &amp; Sons</a><img src=x onerror=alert(1)> &lt;b&gt;',
	vector_layers: ['earth', 'water', 'landuse', 'roads'].map((id) => ({ id, fields: { kind: 'String' } })),
});

async function freePort(): Promise<number> {
	const server = createServer();
	await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
	const { port } = server.address() as AddressInfo;
	await new Promise((done) => server.close(done));
	return port;
}

/** Serves the console with a basemap while something is done. */
async function withBasemap(content: Buffer, use: (server: string) => Promise<void>) {
	const program = process.env['MOTORPOOL'];
	test.skip(!program, 'MOTORPOOL names no program that could serve it');
	const file = test.info().outputPath('basemap.pmtiles');
	await writeFile(file, content);
	const [http, ops] = [await freePort(), await freePort()];
	const server = spawn(program ?? '', ['serve'], { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, MOTORPOOL_LOG_LEVEL: 'error',
		MOTORPOOL_HTTP: `127.0.0.1:${http}`, MOTORPOOL_OPS: `127.0.0.1:${ops}`, MOTORPOOL_BASEMAP: file } });
	const ended = new Promise((done) => server.once('exit', done));
	try {
		await expect(async () => expect((await fetch(`http://127.0.0.1:${ops}/readyz`)).ok).toBe(true)).toPass({ timeout: 60_000 });
		await use(`http://127.0.0.1:${http}`);
	} finally {
		server.kill();
		await ended;
	}
}

/** The colour of the map so many pixels from its middle, as #rrggbb. */
async function colorAt(page: Page, x: number, y: number): Promise<string> {
	const shown = await page.locator('.maplibregl-canvas').boundingBox();
	if (!shown) throw new Error('there is no map');
	const clip = { x: shown.x + shown.width / 2 + x, y: shown.y + shown.height / 2 + y, width: 1, height: 1 };
	const picture = (await page.screenshot({ clip })).toString('base64');
	return page.evaluate(async (data) => {
		const image = new Image();
		image.src = `data:image/png;base64,${data}`;
		await image.decode();
		const canvas = new OffscreenCanvas(1, 1).getContext('2d');
		canvas?.drawImage(image, 0, 0);
		return '#' + [...(canvas?.getImageData(0, 0, 1, 1).data ?? [])].slice(0, 3).map((n) => n.toString(16).padStart(2, '0')).join('');
	}, picture);
}

/** The colours of the map on the left and on the right, above what stands in its middle. */
const sides = async (page: Page) => [await colorAt(page, -300, -150), await colorAt(page, 300, -150)];

const colors = {
	light: { sea: '#d8e3e6', land: '#f6f6f2' }, dark: { sea: '#0f1719', land: '#1d2421' },
};
const shore = '38.5,-94.98,7.5'; // the eastern one of the lake

for (const theme of ['light', 'dark'] as const) {
	test(`a basemap of one's own is drawn: ${theme}`, async ({ browser }) => {
		await withBasemap(streets, async (server) => {
			const context = await browser.newContext({ colorScheme: theme, viewport: { width: 1280, height: 800 } });
			const page = await context.newPage();
			const faults = watch(page, server);
			const ranges: string[] = [];
			page.on('response', (r) => {
				if (new URL(r.url()).pathname === '/console/basemap.pmtiles') ranges.push(`${r.status()} ${r.request().headers()['range']}`);
			});
			await enter(page, `${server}/map?view=${shore}`);
			const { sea, land } = colors[theme];
			await expect.poll(() => sides(page)).toEqual([sea, land]);
			expect(ranges[0]).toBe('206 bytes=0-16383');
			expect(ranges.length).toBeGreaterThan(2);
			expect(ranges.filter((r) => !/^206 bytes=\d+-\d+$/.test(r))).toEqual([]);
			await page.screenshot({ path: test.info().outputPath('map.png') });

			const makers = page.locator('.maplibregl-ctrl-attrib-inner');
			await expect(makers).toContainText('Streets & Sons <b>');
			await expect(makers.locator('img, b, a[href*=elsewhere]')).toHaveCount(0);
			await accessible(page);

			await enter(page, `${server}/map?view=38.67,-94.97,11`);
			await expect.poll(() => sides(page)).toEqual([sea, land]);
			await page.screenshot({ path: test.info().outputPath('road.png') });

			await enter(page, `${server}/map?view=43.3,13.5,7.5`); // the Adriatic coast, of which the file has no tile
			await expect.poll(() => sides(page)).toEqual([land, sea]);
			expect(faults).toEqual([]);
			await context.close();
		});
	});
}

test('a basemap of pictures is drawn', async ({ page, context }) => {
	const picked = '#c02020';
	await page.setContent(`<body style="background: ${picked}">`);
	const picture = await page.screenshot({ clip: { x: 0, y: 0, width: 256, height: 256 } });
	await withBasemap(pmtiles([picture], 2, 1, {}), async (server) => {
		const own = await context.newPage();
		const faults = watch(own, server);
		await enter(own, `${server}/map?view=${shore}`);
		await expect.poll(() => sides(own)).toEqual([picked, picked]);
		expect(faults).toEqual([]);
	});
});

test('a basemap that has water and no land is land elsewhere', async ({ page }) => {
	const water = gzipSync(Buffer.from(layer('water', 'ocean', 'polygon', box(3100, 3300, 3186, 3460)))); // in the Atlantic
	await withBasemap(pmtiles([water, water], 1, 2, { vector_layers: [{ id: 'water' }, { id: 'transportation' }] }), async (server) => {
		const faults = watch(page, server);
		await enter(page, `${server}/map?view=30,-39.99,7.5`);
		await expect.poll(() => sides(page)).toEqual([colors.light.sea, colors.light.land]);
		expect(faults).toEqual([]);
	});
});

test('a basemap that cannot be read leaves the countries, and is told of once', async ({ page }) => {
	await withBasemap(streets, async (server) => {
		await page.route(/basemap\.pmtiles/, (route) => route.fulfill({ status: 500 }));
		await enter(page, `${server}/map?view=${shore}`);
		const note = page.getByText('The tiles of the map cannot be read.');
		await expect(note).toBeVisible();
		await expect.poll(() => sides(page)).toEqual([colors.light.land, colors.light.land]);
		await accessible(page);
		await page.screenshot({ path: test.info().outputPath('map.png') });
		await page.getByRole('link', { name: 'Fences', exact: true }).click();
		await expect(page.getByRole('region', { name: 'Map of the fences' }).locator('canvas')).toBeVisible();
		await expect(note).toHaveCount(0);
	});
});
