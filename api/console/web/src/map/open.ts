import 'maplibre-gl/dist/maplibre-gl.css';
import type { Feature, FeatureCollection } from 'geojson';
import type { Map as MapLibre } from 'maplibre-gl';
import { dark, light, styleOf, type Colors } from './basemap';

/** A map on the page. */
export interface Opened {
	map: MapLibre;
	close: () => void;
}

export const none: FeatureCollection = { type: 'FeatureCollection', features: [] };

export function collection(features: Feature[]): FeatureCollection {
	return { type: 'FeatureCollection', features };
}

/** The box around some places, longitude first; null if there are none. */
export function boxOf(places: Iterable<readonly [number, number]>): [[number, number], [number, number]] | null {
	let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
	for (const [lng, lat] of places) {
		west = Math.min(west, lng);
		east = Math.max(east, lng);
		south = Math.min(south, lat);
		north = Math.max(north, lat);
	}
	return west > east ? null : [[west, south], [east, north]];
}

/**
 * Opens a map on its ground. Whoever asks dresses it: sources and layers are added when it begins, and again when the
 * colours change.
 */
export async function openMap(box: HTMLElement, dress: (map: MapLibre, colors: Colors) => void): Promise<Opened> {
	const darkness = matchMedia('(prefers-color-scheme: dark)');
	const colors = () => (darkness.matches ? dark : light);
	const [maplibre, worker, style] = await Promise.all([
		import('maplibre-gl'), import('maplibre-gl/dist/maplibre-gl-worker.mjs?worker&url'), styleOf(colors()),
	]);
	maplibre.setWorkerUrl(worker.default);
	const map = new maplibre.Map({
		container: box, style, center: [-30, 30], zoom: 1.5, attributionControl: { compact: true },
		maxPitch: 0, dragRotate: false, pitchWithRotate: false, fadeDuration: 0,
	});
	map.touchZoomRotate.disableRotation();
	map.addControl(new maplibre.NavigationControl({ showCompass: false }), 'top-right');
	map.addControl(new maplibre.ScaleControl({}), 'bottom-right');
	map.on('style.load', () => dress(map, colors()));
	const restyle = async () => map.setStyle(await styleOf(colors()));
	darkness.addEventListener('change', restyle);
	return {
		map,
		close: () => {
			darkness.removeEventListener('change', restyle);
			map.remove();
		},
	};
}
