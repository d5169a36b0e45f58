import { defineConfig } from '@playwright/test';

// Runs against a server that has the console in it (`make console-pages`), in the Chromium of the system.
export default defineConfig({
	testDir: 'e2e',
	outputDir: process.env['PAGES_DIR'] ?? '/tmp/motorpool-console',
	timeout: 120_000,
	expect: { timeout: 30_000 },
	workers: 1,
	retries: process.env['CI'] ? 1 : 0, // a machine that does everything at once may once be too slow for a page
	reporter: 'list',
	use: {
		baseURL: process.env['MOTORPOOL_URL'] ?? 'http://127.0.0.1:8080',
		locale: 'en-US',
		launchOptions: {
			executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
			args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
		},
	},
});
