import 'maplibre-gl/dist/maplibre-gl.css';
import type { Feature, FeatureCollection } from 'geojson';
import type { Map as MapLibre, MapSourceDataEvent } from 'maplibre-gl';
import { say, settings } from '../lib/settings.svelte';
import { dark, groundOf, light, ownTiles, refine, styleOf, type Colors } from './basemap';

/** A map on the page. */
export interface Opened {
	map: MapLibre;
	close: () => void;
}

export const none: FeatureCollection = { type: 'FeatureCollection', features: [] };

export function collection(features: Feature[]): FeatureCollection {
	return { type: 'FeatureCollection', features };
}

type Box = [[number, number], [number, number]];

/** How a map looks at all of something. */
export const whole = { padding: 60, maxZoom: 13, duration: 0 };

/** The box around some places, longitude first; null if there are none. */
export function boxOf(places: Iterable<readonly [number, number]>): Box | null {
	let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
	for (const [lng, lat] of places) {
		west = Math.min(west, lng);
		east = Math.max(east, lng);
		south = Math.min(south, lat);
		north = Math.max(north, lat);
	}
	return west > east ? null : [[west, south], [east, north]];
}

/** Those of some places that lie together, if most do: within some 150 km of the middle one. */
export function mostOf(places: readonly [number, number][]): readonly [number, number][] {
	const middle = (of: 0 | 1) => places.map((place) => place[of]).sort((a, b) => a - b)[places.length >> 1] ?? 0;
	const [lng, lat] = [middle(0), middle(1)];
	const near = places.filter((place) => Math.abs(place[0] - lng) < 1.5 && Math.abs(place[1] - lat) < 1.5);
	return near.length * 2 > places.length ? near : places;
}

let told = false;

/** Says on a map that the operator's tiles cannot be read, until one can; once, whatever is opened afterwards. */
function tellNoTiles(map: MapLibre) {
	if (told) return;
	told = true;
	const note = document.createElement('p');
	note.className = 'maplibregl-ctrl bad';
	note.setAttribute('role', 'status');
	note.textContent = say('noTiles');
	const control = { onAdd: () => note, onRemove: () => note.remove() };
	map.addControl(control, 'bottom-left');
	const loaded = (e: MapSourceDataEvent) => {
		if (e.sourceId !== 'tiles' || !e.tile) return;
		map.off('sourcedata', loaded);
		map.removeControl(control);
		told = false;
	};
	map.on('sourcedata', loaded);
}

/** What the map calls its controls, in the language that is chosen when it opens. */
function locale(): Record<string, string> {
	return {
		'Map.Title': say('map'), 'NavigationControl.ZoomIn': say('zoomIn'), 'NavigationControl.ZoomOut': say('zoomOut'),
		'AttributionControl.ToggleAttribution': say('whoseMap'), 'Popup.Close': say('close'), 'Marker.Title': say('place'),
	};
}

let library: Promise<typeof import('maplibre-gl')> | undefined;

/** The map's library, with its workers, which begin when it comes. */
function libraryOf() {
	library ??= Promise.all([import('maplibre-gl'), import('maplibre-gl/dist/maplibre-gl-worker.mjs?worker&url')]).then(([maplibre, worker]) => {
		maplibre.setWorkerUrl(worker.default);
		maplibre.prewarm();
		return maplibre;
	});
	library.catch(() => (library = undefined)); // so that the next one tries again
	return library;
}

/** Asks for all that a map needs, before the page stands that has it. What does not come is told where the map is opened. */
export function expectMap() {
	for (const part of [libraryOf(), groundOf('coarse'), ownTiles()]) part.catch(() => {});
}

/** When the first picture of a map stands; three seconds after it began at the latest, as tiles may be long in coming. */
function firstPicture(map: MapLibre): Promise<void> {
	return new Promise((stands) => {
		void map.once('load', () => stands());
		setTimeout(stands, 3000);
	});
}

/**
 * Opens a map on its ground. Whoever asks dresses it: sources and layers are added when it begins, and again when the
 * colours change. It begins with what the last argument says, if that is known by then, so that nothing is drawn that
 * nobody will look at; otherwise with the Earth.
 */
export async function openMap(box: HTMLElement, dress: (map: MapLibre, colors: Colors) => void,
	begin: () => Box | null = () => null): Promise<Opened> {
	const darkness = matchMedia('(prefers-color-scheme: dark)');
	const colors = () => (darkness.matches ? dark : light);
	const tiles = ownTiles().catch(() => 'unreadable' as const);
	const [maplibre, style] = await Promise.all([libraryOf(), styleOf(colors(), tiles)]);
	const bounds = begin();
	const map = new maplibre.Map({
		container: box, style, ...(bounds ? { bounds, fitBoundsOptions: whole } : { center: [-30, 30], zoom: 1.5 }), attributionControl: { compact: true },
		maxPitch: 0, dragRotate: false, pitchWithRotate: false, fadeDuration: 0, locale: locale(),
		validateStyle: false, // ours is checked by its type
	});
	map.touchZoomRotate.disableRotation();
	map.addControl(new maplibre.NavigationControl({ showCompass: false }), 'top-right');
	const scale = new maplibre.ScaleControl({});
	map.addControl(scale, 'bottom-right');
	const scaled = $effect.root(() => {
		$effect(() => scale.setUnit(settings.units));
	});
	const stands = firstPicture(map);
	map.on('style.load', () => {
		dress(map, colors());
		void stands.then(() => refine(map));
	});
	if ((await tiles) === 'unreadable') tellNoTiles(map);
	map.on('error', (e) => {
		if ('sourceId' in e && e.sourceId === 'tiles') tellNoTiles(map);
		else console.error(e.error);
	});
	const restyle = async () => map.setStyle(await styleOf(colors(), tiles));
	darkness.addEventListener('change', restyle);
	return {
		map,
		close: () => {
			darkness.removeEventListener('change', restyle);
			scaled();
			map.remove();
		},
	};
}
