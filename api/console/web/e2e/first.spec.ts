import { expect, test } from '@playwright/test';
import { post, watch } from './own';

// How long it takes from opening the page until the map shows the vehicles, for somebody who is signed in and whose browser
// has kept nothing of the page.

const mark = Date.now().toString(36);
const wanted = 2000; // ms
const most = 10_000; // ms, for a machine that does much else

test('the map shows its vehicles soon after the page is opened', async ({ browser, context, request }) => {
	for (let i = 0; i < 40; i++) {
		const vehicle = await post(request, '/v1/vehicles', { make: 'Skoda', model: 'Fabia', nickname: `First ${i} ${mark}` });
		const device = await post(request, '/v1/devices', { unique_id: `first-${mark}-${i}` });
		await post(request, `/v1/devices/${device.id}/assign`, { vehicle_id: vehicle.id });
	}
	await post(request, '/v1/positions', Array.from({ length: 40 }, (_, i) =>
		({ unique_id: `first-${mark}-${i}`, fix_at: new Date().toISOString(), lat: 52.5 + i / 500, lng: 13.4 + i / 400, speed_mph: 20 })));
	const { invitation_url } = await post<{ invitation_url: string }>(request, '/v1/users', { name: 'First', email: `first.${mark}@example.com`, role: 'owner' });
	const { pathname, search } = new URL(invitation_url);
	const first = await context.newPage();
	await first.goto(pathname + search);
	for (const field of await first.locator('input[type=password]').all()) await field.fill('a horse in the rain');
	await first.locator('form button').first().click();
	await first.goto('/map');
	await expect(first.getByRole('status').filter({ hasText: 'Live' })).toBeVisible();
	const storageState = await context.storageState();
	await first.close();

	const took: number[] = [];
	const worked: number[] = []; // s of processor time that the page's main thread took, whatever else the machine does
	for (let i = 0; i < 3; i++) {
		const fresh = await browser.newContext({ storageState });
		const page = await fresh.newPage();
		const faults = watch(page);
		const client = await fresh.newCDPSession(page);
		await client.send('Performance.enable', { timeDomain: 'threadTicks' });
		await page.goto('/map');
		const drawn = await page.waitForFunction(() => performance.getEntriesByName('fleet-drawn')[0]?.startTime, undefined, { timeout: most * 3 });
		took.push((await drawn.jsonValue()) ?? Infinity);
		worked.push((await client.send('Performance.getMetrics')).metrics.find((m) => m.name === 'TaskDuration')?.value ?? NaN);
		if (i === 0) await page.screenshot({ path: test.info().outputPath('first.png') });
		expect(faults).toEqual([]);
		await fresh.close();
	}
	const best = Math.min(...took);
	console.log(`the vehicles stood on the map ${took.map((ms) => ms.toFixed(0)).join(', ')} ms after the page was opened, of which the main thread worked ${worked.map((s) => (s * 1000).toFixed(0)).join(', ')} ms; ${wanted} ms are wanted`);
	expect(best).toBeLessThan(most);
});
