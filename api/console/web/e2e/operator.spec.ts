import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { expect, test, type Page } from '@playwright/test';
import { accessible, account, clickAt, enter, get, watch } from './own';

// An operator's day on a real server, in a real browser: a fence is drawn on the map, a rule about it is tried against the
// past, a vehicle crosses the fence as a recording has it, and somebody takes note of the alert.

const recordings = join(import.meta.dirname, '../../../../deploy/demo/recordings');

/** The rows of one drive of the demo's recordings, as a file of its own. */
function driveOf(vehicle: string, file: string): { path: string; rows: string[] } {
	const [head = '', ...all] = gunzipSync(readFileSync(join(recordings, file))).toString().trim().split('\n');
	const rows = all.filter((row) => row.startsWith(`${vehicle},`));
	const path = test.info().outputPath(`${vehicle}.csv`);
	writeFileSync(path, [head, ...rows].join('\n') + '\n');
	return { path, rows };
}

/** Sends a recording through Kafka by the program itself, with its newest or its first fix now. */
function replay(path: string, ...more: string[]) {
	const program = process.env['MOTORPOOL'] ?? '';
	return promisify(execFile)(program, ['replay', '--account', account, '--register', '--shift-to-now', ...more, path], { timeout: 200_000 });
}

// How many vehicles were there: the demo's drive on the same roads.
const some = account === 'Demo' ? '[1-9]\\d*' : '1';

test("an operator's day: fence drawn, rule tried, vehicle crosses it, alert acknowledged", async ({ page, request }) => {
	test.setTimeout(360_000);
	const faults = watch(page);
	const { path, rows } = driveOf('drive-03', 'omaha.csv.gz');
	expect(rows.length).toBe(45);
	await replay(path, '--wait'); // what it did just now is the past that fence and rule are tried against
	const mark = Date.now().toString(36);

	const [, , lat = '', lng = ''] = rows[rows.length - 1]?.split(',') ?? [];
	await enter(page, `/fences/new?view=${lat},${lng},15`);
	await expect(page.locator('.maplibregl-canvas')).toBeVisible();
	await page.waitForTimeout(3000); // the map comes to where the vehicle is
	// A square around where the drive ended, with a hole in a corner of it.
	await clickAt(page, [[-130, -130], [130, -130], [130, 130], [-130, 130], [-130, -130]]);
	await expect(page.getByText(new RegExp(`Vehicles: ${some}\\. Times inside: \\d+`))).toBeVisible();
	await clickAt(page, [[60, 60], [110, 60], [110, 110], [60, 60]]);
	await page.getByText('Write it as places').click();
	await expect(page.getByLabel('Places, one in each line')).toHaveValue(/\n\n/);
	await page.getByLabel('Name of the fence').fill(`Depot ${mark}`);
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath('fence.png'), fullPage: true });
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(page.getByRole('link', { name: new RegExp(`Depot ${mark}`) })).toBeVisible();
	await page.screenshot({ path: test.info().outputPath('fences.png') });

	await page.goto('/rules/new');
	await enterAgain(page);
	await page.getByLabel('Name of the rule').fill(`Came to ${mark}`);
	await page.getByLabel('Watches for').selectOption('geofence_enter');
	await page.getByRole('checkbox', { name: `Depot ${mark}` }).check();
	await page.getByRole('button', { name: 'Try it' }).click();
	await expect(page.getByText(new RegExp(`Alerts in the last 7 days: ${some}\\. Vehicles: ${some}\\.`))).toBeVisible();
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath('rule.png'), fullPage: true });
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(page.getByRole('link', { name: new RegExp(`Came to ${mark}`) })).toBeVisible();

	await page.getByRole('link', { name: 'Map', exact: true }).click();
	await expect(page.getByRole('button', { name: /drive-03/ })).toBeVisible();
	await page.waitForTimeout(3000); // a rule is about what comes after it
	const driven = replay(path, '--speed', 'original');
	const came = page.getByRole('listitem').filter({ hasText: /Geofence enter/ }).filter({ hasText: 'drive-03' });
	await expect(came.first()).toBeVisible({ timeout: 120_000 });
	await page.screenshot({ path: test.info().outputPath('came.png') });
	await accessible(page);
	await came.first().getByRole('button', { name: 'Acknowledge' }).click();
	await expect(came).toHaveCount(0);
	await page.getByRole('link', { name: 'Alerts' }).click();
	await expect(page.getByRole('listitem').filter({ hasText: 'drive-03' }).first()).toContainText('Acknowledged');
	await driven;

	// It is found again after a reload, by filters that the address keeps; the badge says how many wait, as the interface counts them.
	await page.goto('/alerts?noted=yes&kind=geofence_enter');
	await enterAgain(page);
	await expect(page.getByRole('listitem').filter({ hasText: 'drive-03' }).first()).toContainText('Acknowledged');
	await expect(page.getByRole('button', { name: 'Acknowledged' })).toHaveAttribute('aria-pressed', 'true');
	await page.getByRole('button', { name: /^Waiting/ }).click();
	await expect(page).toHaveURL(/noted=no/);
	await expect(async () => {
		const { pagination } = await get<{ pagination: { total: number } }>(request, '/v1/alerts?acknowledged=false&per_page=1');
		await expect(page.getByRole('button', { name: /^Waiting/ })).toHaveText(`Waiting ${pagination.total}`, { timeout: 1000 });
	}).toPass();
	await page.getByRole('button', { name: 'All', exact: true }).click();
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath('alerts.png') });
	await page.emulateMedia({ colorScheme: 'dark' });
	await page.setViewportSize({ width: 390, height: 844 });
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath('alerts-dark.png') });
	await page.emulateMedia({ colorScheme: 'light' });
	await page.setViewportSize({ width: 1280, height: 720 });

	// The day is played back: its visit of the fence is on it.
	await page.getByRole('button', { name: 'Show on the map' }).first().click();
	await expect(page.getByRole('button', { name: 'Play' })).toBeVisible();
	await page.getByRole('button', { name: new RegExp(`In Depot ${mark}`) }).first().click();
	await expect(page).toHaveURL(/at=20/);
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath('playback.png') });
	expect(faults).toEqual([]);
});

/** A page that was loaded anew has forgotten the key. */
async function enterAgain(page: Page) {
	await page.getByLabel('API key', { exact: true }).fill(process.env['MOTORPOOL_KEY'] ?? '');
	await page.getByRole('button', { name: 'Use the key' }).click();
}
