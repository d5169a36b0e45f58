import AxeBuilder from '@axe-core/playwright';
import { expect, test, type APIRequestContext, type Page } from '@playwright/test';

// What the tests of pages share.

export const key = process.env['MOTORPOOL_KEY'] ?? '';
export const account = process.env['MOTORPOOL_ACCOUNT_NAME'] ?? ''; // the name of that of the key
export const otherKey = process.env['MOTORPOOL_OTHER_KEY'] ?? ''; // of another account

export async function post<T = { id: string }>(request: APIRequestContext, path: string, data: unknown, as = key): Promise<T> {
	const response = await request.post(path, { headers: { Authorization: `Bearer ${as}` }, data });
	expect(response.ok(), `${path}: ${await response.text()}`).toBe(true);
	return (await response.json()) as T;
}

/** What the interface answers. */
export async function get<T>(request: APIRequestContext, path: string): Promise<T> {
	const response = await request.get(path, { headers: { Authorization: `Bearer ${key}` } });
	expect(response.ok(), `${path}: ${await response.text()}`).toBe(true);
	return (await response.json()) as T;
}

/** What the clock on the account's wall shows at a time, as a field for times takes it. */
export async function clockOf(request: APIRequestContext): Promise<(at: number) => string> {
	const { timezone } = await get<{ timezone: string | null }>(request, '/v1/account');
	return (at) => new Date(at).toLocaleString('sv-SE', { timeZone: timezone || 'UTC' }).replace(' ', 'T').slice(0, 16);
}

/** Goes to another page of the console, as a link would, and waits until it is there. */
export async function show(page: Page, at: string) {
	await page.evaluate((to) => {
		history.pushState(null, '', to);
		dispatchEvent(new PopStateEvent('popstate'));
	}, at);
	const map = /^\/map\b/.test(at); // which has no heading
	await expect(map ? page.locator('.maplibregl-canvas') : page.getByRole('heading', { level: 1 })).toBeVisible();
	const coming = page.getByText(/^(Lädt …|Loading…)$/);
	await expect(coming).toHaveCount(0);
	await page.waitForTimeout(600); // lists wait for the last letter of a search
	await expect(coming).toHaveCount(0);
}

/** Signs in with a key, at a page. */
export async function enter(page: Page, at = '/map', as = key) {
	await page.goto(at);
	await page.getByLabel('API key', { exact: true }).or(page.getByLabel('API-Schlüssel', { exact: true })).fill(as);
	await page.getByRole('button', { name: /^(Use the key|Schlüssel verwenden)$/ }).click();
	await expect(page.getByRole('status').filter({ hasText: 'Live' })).toBeVisible();
}

/** Fails the test with whatever the page asks of another server, or complains of. */
export function watch(page: Page, server = test.info().project.use.baseURL ?? '') {
	const faults: string[] = [];
	page.on('request', (r) => {
		const at = new URL(r.url());
		if (!['blob:', 'data:'].includes(at.protocol) && at.host !== new URL(server).host) faults.push(`asked ${r.url()}`);
	});
	page.on('console', (m) => {
		// The browser says of itself that something was refused: the first question without a session, and what a test wants refused.
		if (m.type() === 'error' && !/status of (401|409|422)/.test(m.text())) faults.push(m.text());
	});
	page.on('pageerror', (e) => faults.push(String(e)));
	page.on('dialog', (d) => {
		faults.push(`dialog ${d.message()}`);
		void d.dismiss();
	});
	return faults;
}

/** Clicks at places of the map of fences, in pixels from its middle. */
export async function clickAt(page: Page, places: [number, number][]) {
	const box = await page.getByRole('region', { name: 'Map of the fences' }).boundingBox();
	if (!box) throw new Error('there is no map');
	for (const [x, y] of places) {
		await page.mouse.move(box.x + box.width / 2 + x, box.y + box.height / 2 + y);
		await page.waitForTimeout(120);
		await page.mouse.click(box.x + box.width / 2 + x, box.y + box.height / 2 + y);
		await page.waitForTimeout(250); // two clicks at once would be one that zooms
	}
}

export async function accessible(page: Page) {
	// The rule about sizes is of WCAG 2.2, which axe leaves out by itself. What stays in its place while a table or a page scrolls may
	// lie over half a link, which scrolling brings out: it is measured as if nothing did.
	const stay = await page.evaluateHandle(() => [...document.querySelectorAll<HTMLElement>('body *')].filter((one) => getComputedStyle(one).position === 'sticky'));
	await stay.evaluate((all) => all.forEach((one) => (one.style.position = 'static')));
	const sizes = await new AxeBuilder({ page }).withRules('target-size').analyze();
	await stay.evaluate((all) => all.forEach((one) => (one.style.position = '')));
	const violations = [...(await new AxeBuilder({ page }).analyze()).violations, ...sizes.violations];
	expect(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(' ')).join(', ')}`)).toEqual([]);
}

/** Looks at a page on a telephone and in the dark. */
export async function look(page: Page, name: string) {
	await page.setViewportSize({ width: 390, height: 844 });
	expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), name).toBe(true);
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath(`${name}-phone.png`), fullPage: true });
	await page.setViewportSize({ width: 1280, height: 900 });
	await page.emulateMedia({ colorScheme: 'dark' });
	await accessible(page);
	await page.screenshot({ path: test.info().outputPath(`${name}-dark.png`), fullPage: true });
	await page.emulateMedia({ colorScheme: 'light' });
}
