import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import ts from 'typescript';
import { Reference, type Document } from '../src/docs/document';
import { callOf, filled, languages } from '../src/docs/samples';
import { accessible, get, key, post, watch } from './own';

// The reference at /docs: for anybody, with search, samples that are programs, and trying out with a key.

test('the reference is found by search and keyboard, and tried with a key', async ({ page, request }) => {
	const faults = watch(page);
	await post(request, '/v1/vehicles', { make: 'Renault', model: `Docs ${Date.now().toString(36)}` });
	await page.goto('/docs');
	await expect(page.getByRole('heading', { level: 1, name: 'Motorpool' })).toBeVisible();
	await page.keyboard.press('/');
	await page.keyboard.type('create a vehicle');
	await page.keyboard.press('Tab');
	await page.getByRole('link', { name: /^Create a vehicle POST/ }).focus();
	await page.keyboard.press('Enter');
	await expect(page).toHaveURL(/\/docs\/operations\/createVehicle$/);
	await expect(page.getByRole('heading', { level: 1, name: 'Create a vehicle' })).toBeFocused();
	await page.getByRole('button', { name: 'Python' }).click();
	await expect(page.getByLabel('Sample: Python', { exact: true })).toContainText('json.dumps');

	await page.goto('/docs/operations/listVehicles');
	await page.getByLabel('Your API key').fill('mp_live_wrong');
	await page.getByRole('button', { name: 'Use the key' }).click();
	await expect(page.getByRole('alert')).toBeVisible();
	await page.getByLabel('Your API key').fill(key);
	await page.getByRole('button', { name: 'Use the key' }).click();
	await page.getByText(/^More parameters/).click();
	await page.getByLabel('per_page', { exact: true }).fill('1');
	await expect(page.getByLabel('Sample: Python', { exact: true })).toContainText('/v1/vehicles?per_page=1');
	await page.getByRole('button', { name: 'Send' }).click();
	await expect(page.getByText(/^200 OK? ?in/)).toBeVisible();
	await expect(page.getByLabel('Answer', { exact: true })).toContainText('"per_page": 1');
	await accessible(page);
	// What is written is refused in the interface's own words, and leads to the problem's own page.
	await page.getByRole('navigation', { name: 'Contents' }).getByRole('link', { name: 'Create a vehicle', exact: true }).click();
	await page.getByLabel('Body', { exact: true }).fill('{"make": 7}');
	await page.getByRole('button', { name: 'Send' }).click();
	await expect(page.getByLabel('Answer', { exact: true })).toContainText('/docs#problem-validation_failed');
	expect(faults).toEqual([]);
});

test('every problem, event, operation and guide has an address of its own', async ({ page, request }) => {
	const faults = watch(page);
	const types = await get<{ data: { type: string }[] }>(request, '/v1/event_types');
	const reference = new Reference((await (await request.get('/v1/openapi.json')).json()) as Document);
	const problem = (await (await request.get('/v1/vehicles/veh_0', { headers: { Authorization: `Bearer ${key}` } })).json()) as { type: string; code: string };
	await page.goto(problem.type);
	await expect(page).toHaveURL(new RegExp(`/docs/problems/${problem.code}$`));
	await expect(page.getByRole('heading', { level: 1, name: problem.code })).toBeVisible();
	const go = async (path: string) => {
		await page.evaluate((to) => {
			history.pushState(null, '', to);
			dispatchEvent(new PopStateEvent('popstate'));
		}, path);
	};
	for (const { type } of types.data) {
		await go(`/docs/events/${type}`);
		await expect(page.getByRole('heading', { level: 1, name: type, exact: true })).toBeVisible();
		await expect(page.getByLabel('Example', { exact: true })).toContainText(`"type": "${type}"`);
	}
	expect(reference.problems.length).toBeGreaterThan(20);
	for (const { code, status } of reference.problems) {
		await go(`/docs/problems/${code}`);
		await expect(page.getByRole('heading', { level: 1, name: code, exact: true })).toBeVisible();
		await expect(page.getByLabel('Example', { exact: true })).toContainText(`"code": "${code}"`);
		await expect(page.getByLabel('Example', { exact: true })).toContainText(`"status": ${status}`);
	}
	await go('/docs');
	const guides = page.getByRole('navigation', { name: 'Contents' }).locator('a[href^="/docs/guides/"]');
	expect(await guides.count()).toBeGreaterThanOrEqual(8);
	for (const name of await guides.allTextContents()) {
		await guides.filter({ hasText: name }).first().click();
		await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
		for (const link of await page.locator('.prose a[href^="/docs/guides/"][href*="#"]').all()) {
			expect(await link.getAttribute('href'), name).toMatch(/^\/docs\/guides\/[a-z-]+#/);
		}
	}
	await go('/docs/operations/nothing');
	await expect(page.getByRole('heading', { level: 1 })).toContainText('nothing of that name');
	expect(faults).toEqual([]);
});

test('samples of each operation are programs', async ({ request }) => {
	test.setTimeout(240_000);
	const reference = new Reference((await (await request.get('/v1/openapi.json')).json()) as Document);
	expect(reference.operations.length).toBeGreaterThan(400);
	const dir = test.info().outputPath('samples');
	mkdirSync(dir, { recursive: true });
	const wrong: string[] = [];
	for (const operation of reference.operations) {
		const call = callOf(reference, operation, filled(reference, operation), 'http://127.0.0.1:8080');
		expect(call.url, operation.operationId).not.toMatch(/[{}]|undefined/);
		writeFileSync(join(dir, `${operation.operationId}.sh`), languages.curl.of(call));
		writeFileSync(join(dir, `${operation.operationId}.py`), languages.python.of(call));
		writeFileSync(join(dir, `${operation.operationId}.go`), languages.go.of(call));
		const { diagnostics = [] } = ts.transpileModule(languages.typescript.of(call), { reportDiagnostics: true, compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext } });
		wrong.push(...diagnostics.map((d) => `${operation.operationId}: ${ts.flattenDiagnosticMessageText(d.messageText, ' ')}`));
	}
	expect(wrong).toEqual([]);
	execFileSync('bash', ['-c', `for f in ${dir}/*.sh; do bash -n "$f" || exit 1; done`]);
	execFileSync('python3', ['-m', 'compileall', '-q', dir]);
	expect(execFileSync('bash', ['-c', `gofmt -l ${dir}/*.go`]).toString()).toBe('');
});

test('samples run as they stand', async ({ request, baseURL }) => {
	test.setTimeout(240_000);
	const model = `Sample ${Date.now().toString(36)} it's`;
	const reference = new Reference((await (await request.get('/v1/openapi.json')).json()) as Document);
	const env = { ...process.env, MOTORPOOL_KEY: key };
	const dir = test.info().outputPath('run');
	mkdirSync(dir, { recursive: true });
	const run = (id: string, values: Record<string, string>, body?: string) => {
		const operation = reference.operations.find((one) => one.operationId === id);
		if (!operation) throw new Error(id);
		const call = callOf(reference, operation, { values, body }, baseURL ?? '');
		const answers: string[] = [];
		for (const [language, file, command] of [['curl', 'sample.sh', 'bash'], ['python', 'sample.py', 'python3'], ['go', 'sample.go', 'go run'], ['typescript', 'sample.mjs', 'node']] as const) {
			const text = languages[language].of(call);
			// This Node.js may be one that runs no TypeScript by itself.
			writeFileSync(join(dir, file), language === 'typescript' ? ts.transpile(text, { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext }) : text);
			answers.push(execFileSync('bash', ['-c', `${command} ${join(dir, file)}`], { env }).toString());
		}
		return answers;
	};
	for (const answer of run('createVehicle', {}, JSON.stringify({ make: 'Renault', model }))) expect(answer).toContain(model.split("'")[0]);
	for (const answer of run('listVehicles', { 'query.q': model.split(' ').slice(0, 2).join(' '), 'query.per_page': '4' })) expect(answer.match(/veh_\d+/g)).toHaveLength(4);
});

const pages = { home: '/docs', operation: '/docs/operations/createBooking', group: '/docs/groups/Bookings', guide: '/docs/guides/first-day', webhooks: '/docs/guides/webhooks', problems: '/docs/problems', problem: '/docs/problems/conflict', events: '/docs/events', event: '/docs/events/alert.raised', schema: '/docs/schemas/Vehicle', found: '/docs?q=geofence' };
const locales = { en: 'en-US', de: 'de-DE', es: 'es-ES' };
let turn = 0;
for (const theme of ['light', 'dark'] as const) {
	for (const [size, viewport] of Object.entries({ desk: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } })) {
		const [language, locale] = Object.entries(locales)[turn++ % 3] ?? ['en', 'en-US'];
		test(`the reference can be read: ${theme}, ${size}, ${language}`, async ({ browser }) => {
			test.setTimeout(300_000); // axe takes its time with large pages
			const context = await browser.newContext({ colorScheme: theme, viewport, locale });
			const page = await context.newPage();
			const faults = watch(page);
			for (const [name, path] of Object.entries(pages)) {
				await page.goto(path);
				await expect(page.locator('h1')).toBeVisible();
				await page.screenshot({ path: test.info().outputPath(`${name}.png`) });
				expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), name).toBe(true);
				await accessible(page);
			}
			expect(faults).toEqual([]);
			await context.close();
		});
	}
}
