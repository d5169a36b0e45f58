import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { guidesPlugin } from './build/guides';

// What is built lies in the program's folder (see ../console.go). Nothing is inlined, as the policy of the pages lets
// them load files of the server alone.
export default defineConfig({
	base: '/console/',
	plugins: [svelte(), guidesPlugin()],
	build: {
		outDir: '../built',
		rolldownOptions: { input: ['index.html', 'share.html'] }, // the second is what a share link opens
		emptyOutDir: false,
		target: 'es2022',
		assetsInlineLimit: 0,
		license: { fileName: 'assets/licences.txt' }, // of what is built in
		modulePreload: { polyfill: false },
		chunkSizeWarningLimit: 1500,
	},
	worker: { format: 'es' },
	server: { proxy: { '/v1': 'http://127.0.0.1:8080', '/signin': 'http://127.0.0.1:8080', '/ui': 'http://127.0.0.1:8080',
		'/console/basemap': 'http://127.0.0.1:8080' } },
});
