import { spawn } from 'node:child_process';
import { createWriteStream, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { expect, test } from '@playwright/test';
import { account, enter, watch } from './own';

// The map with 10,000 vehicles, each of which tells a place every ten seconds: 1000 places a second, sent by the program
// itself through Kafka. It runs for CONSOLE_MINUTES, and not at all without (`make console-scale`).

const minutes = Number(process.env['CONSOLE_MINUTES'] ?? 0);
const vehicles = Number(process.env['CONSOLE_VEHICLES'] ?? 10_000);
const every = 10; // s

interface Event {
	name: string;
	ph: string;
	pid: number;
	tid: number;
	ts: number;
	dur?: number;
	args: { name?: string };
}

/** Writes a recording in which so many vehicles drive through a city for so long, the same each time. */
async function record(path: string, seconds: number) {
	const file = createWriteStream(path);
	let seed = 1;
	const random = () => ((seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32);
	const fleet = Array.from({ length: vehicles }, () => ({ lat: 30.27 + (random() - 0.5) / 3, lng: -97.74 + (random() - 0.5) / 3, course: random() * 360, speed: 20 + random() * 60 }));
	file.write('vehicle,timestamp,lat,lng,speed_kmh,heading_deg\n');
	for (let second = 0; second < seconds; second++) {
		const at = new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString();
		let rows = '';
		for (let i = second % every; i < vehicles; i += every) {
			const v = fleet[i];
			if (!v) continue;
			if (random() < 0.1) v.course = (v.course + (random() < 0.5 ? 90 : 270)) % 360;
			const way = (v.speed / 3.6) * every / 111_195;
			v.lat += way * Math.cos((v.course * Math.PI) / 180);
			v.lng += (way * Math.sin((v.course * Math.PI) / 180)) / Math.cos((v.lat * Math.PI) / 180);
			rows += `scale-${i},${at},${v.lat.toFixed(6)},${v.lng.toFixed(6)},${v.speed.toFixed(1)},${v.course.toFixed(0)}\n`;
		}
		if (!file.write(rows)) await once(file, 'drain');
	}
	file.end();
	await once(file, 'finish');
}

/** How much of the time the main thread of the page was at work, by the clock, and its longest task in ms. */
function work(path: string, seconds: number) {
	const { traceEvents } = JSON.parse(readFileSync(path, 'utf8')) as { traceEvents: Event[] };
	const mains = traceEvents.filter((e) => e.ph === 'M' && e.name === 'thread_name' && e.args.name === 'CrRendererMain');
	const name = ['ThreadControllerImpl::RunTask', 'RunTask'].find((n) => traceEvents.some((e) => e.name === n)); // outermost
	const tasks = mains.map((main) => traceEvents.filter((e) => e.pid === main.pid && e.tid === main.tid && e.ph === 'X' && e.name === name));
	const own = tasks.sort((a, b) => b.length - a.length)[0] ?? [];
	const wall = own.reduce((all, e) => all + (e.dur ?? 0), 0) / 1e6 / seconds;
	return { wall, longest: own.reduce((most, e) => Math.max(most, e.dur ?? 0), 0) / 1000, tasks: own.length };
}

test('ten thousand vehicles move, and the page answers all the same', async ({ page, browser }) => {
	test.skip(!minutes, 'CONSOLE_MINUTES says for how long');
	test.setTimeout((minutes * 60 + 1500) * 1000);
	const faults = watch(page);
	const path = test.info().outputPath('fleet.csv');
	await record(path, Math.ceil(minutes * 60 + 420));
	const program = process.env['MOTORPOOL'] ?? '';
	const replay = spawn(program, ['replay', '--account', account, '--register', '--speed', 'original', '--shift-to-now', path], { stdio: 'inherit' });
	try {
		await enter(page, '/map');
		const opened = await page.evaluate(() => performance.now());
		await page.locator('canvas.maplibregl-canvas').waitFor();
		console.log(`the map stood ${((await page.evaluate(() => performance.now())) - opened).toFixed(0)} ms after it was live`);
		await expect(page.getByRole('button', { name: new RegExp(`^All ${vehicles}$`) })).toBeVisible({ timeout: 900_000 }); // they are registered first
		const client = await page.context().newCDPSession(page);
		const heap = async () => {
			await client.send('HeapProfiler.collectGarbage');
			return ((await client.send('Runtime.getHeapUsage')).usedSize / 1e6);
		};
		// The processor time of the main thread says what the page costs, whatever else the machine does; the trace, what it was like.
		await client.send('Performance.enable', { timeDomain: 'threadTicks' });
		const metric = async (name: string) => (await client.send('Performance.getMetrics')).metrics.find((m) => m.name === name)?.value ?? NaN;
		const measure = async (name: string, seconds: number) => {
			const began = await metric('TaskDuration');
			const trace = test.info().outputPath(`${name}.json`);
			await browser.startTracing(page, { path: trace, categories: ['toplevel', 'devtools.timeline', '__metadata'] });
			await page.waitForTimeout(seconds * 1000);
			await browser.stopTracing();
			const cpu = ((await metric('TaskDuration')) - began) / seconds;
			const found = work(trace, seconds);
			console.log(`${name}: main thread at work ${(cpu * 100).toFixed(1)} % by processor time, ${(found.wall * 100).toFixed(1)} % by the clock, longest task ${found.longest.toFixed(0)} ms, ${found.tasks} tasks`);
			expect(found.tasks).toBeGreaterThan(0);
			return { ...found, cpu };
		};
		await page.screenshot({ path: test.info().outputPath('overview.png') });
		const overview = await measure('overview', 20);
		// As near as vehicles stand apart, with their trails.
		await page.getByRole('button', { name: 'Trails' }).click();
		const box = await page.getByRole('region', { name: 'Map of the vehicles' }).boundingBox();
		await page.mouse.move((box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + (box?.height ?? 0) / 2);
		for (let i = 0; i < 6; i++) {
			await page.mouse.wheel(0, -400);
			await page.waitForTimeout(400);
		}
		await page.waitForTimeout(4000);
		await page.screenshot({ path: test.info().outputPath('near.png') });
		const near = await measure('near', 20);
		await page.getByRole('searchbox').fill('scale-12');
		await expect(page).toHaveURL(/q=scale-12/);
		await page.getByRole('searchbox').fill('');

		const heaps = [await heap()];
		for (let minute = 0; minute < minutes; minute++) {
			await page.waitForTimeout(60_000);
			heaps.push(await heap());
		}
		console.log(`memory of scripts after each minute: ${heaps.map((mb) => mb.toFixed(1)).join(', ')} MB`);
		const last = await measure('after', 10);
		expect(overview.cpu).toBeLessThan(0.1);
		expect(near.cpu).toBeLessThan(0.1);
		expect(last.cpu).toBeLessThan(0.1);
		expect(heaps[heaps.length - 1] ?? 0).toBeLessThan((heaps[1] ?? 0) * 1.15 + 5);
		expect(faults).toEqual([]);
	} finally {
		replay.kill('SIGTERM');
	}
});
