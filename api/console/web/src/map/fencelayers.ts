import type { Feature } from 'geojson';
import type { GeoJSONSource, Map as MapLibre } from 'maplibre-gl';
import { middleOf, shown, type Geometry } from '../fences/shape';
import type { Colors } from './basemap';
import { collection, none } from './open.svelte';

// Fences on a map, each in its own colour.

export interface Fence {
	id: string;
	name: string;
	color: string;
	geometry: Geometry;
}

export const usual = '#2f80ed'; // of a fence that has no colour of its own

export function addFences(map: MapLibre, colors: Colors, before?: string) {
	map.addSource('fences', { type: 'geojson', data: none });
	map.addLayer({
		id: 'fence-fills', type: 'fill', source: 'fences', filter: ['==', ['geometry-type'], 'Polygon'],
		paint: { 'fill-color': ['get', 'color'], 'fill-opacity': 0.16 },
	}, before);
	map.addLayer({
		id: 'fence-ways', type: 'line', source: 'fences', filter: ['==', ['geometry-type'], 'LineString'],
		layout: { 'line-cap': 'round', 'line-join': 'round' },
		paint: {
			'line-color': ['get', 'color'], 'line-opacity': 0.3,
			'line-width': ['interpolate', ['exponential', 2], ['zoom'], 0, ['max', 0.0005, ['get', 'wide']], 22,
				['*', ['get', 'wide'], 2 ** 22]],
		},
	}, before);
	map.addLayer({
		id: 'fence-edges', type: 'line', source: 'fences', paint: { 'line-color': ['get', 'color'], 'line-width': 2 },
	}, before);
	// A name has a place of its own: of a polygon each tile would show it for its part.
	map.addLayer({
		id: 'fence-names', type: 'symbol', source: 'fences', minzoom: 9, filter: ['==', ['geometry-type'], 'Point'],
		layout: { 'text-field': ['get', 'name'], 'text-size': 12, 'text-font': ['sans-serif'], 'symbol-placement': 'point' },
		paint: { 'text-color': colors.text, 'text-halo-color': colors.halo, 'text-halo-width': 1.5 },
	}, before);
}

export function showFences(map: MapLibre, fences: readonly Fence[]) {
	const features: Feature[] = fences.flatMap(({ id, name, color, geometry }) => {
		const properties = { id, name, color: color || usual };
		const middle = middleOf(geometry);
		return [...shown(geometry, properties), ...(middle ? [{ type: 'Feature' as const, properties, geometry: { type: 'Point' as const, coordinates: middle } }] : [])];
	});
	void map.getSource<GeoJSONSource>('fences')?.setData(collection(features));
}
