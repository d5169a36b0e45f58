import type { ExpressionSpecification, FilterSpecification, GeoJSONSource, Map as MapLibre, StyleSpecification } from 'maplibre-gl';
import type { Feature, FeatureCollection, MultiLineString, MultiPolygon, Point } from 'geojson';
import type { GeometryCollection, Topology } from 'topojson-specification';
import { feature, mesh } from 'topojson-client';
import coarseAddress from 'world-atlas/countries-110m.json?url';
import fineAddress from 'world-atlas/countries-50m.json?url';
import type { Tiles } from './tiles';

// The ground of the map: land, borders and names of countries by Natural Earth, and over them the operator's own tiles
// if there are any, else the names of towns by GeoNames, all served by this server. Nothing is asked of anybody else, so that
// it is there without a network too.
// A map begins on a coarse ground, which is land and sea and there at once, and gets a fine one when its first picture stands.

export interface Colors {
	sea: string;
	land: string;
	border: string;
	text: string;
	halo: string;
	way: string;
	green: string;
	building: string;
	road: string;
	roadEdge: string;
	dim: boolean; // pictures are darkened
}

export const light: Colors = {
	sea: '#d8e3e6', land: '#f6f6f2', border: '#b6bfba', text: '#56625d', halo: '#ffffff', way: '#0b6b50',
	green: '#e2ecda', building: '#e5e3dc', road: '#ffffff', roadEdge: '#d0d6d1', dim: false,
};
export const dark: Colors = {
	sea: '#0f1719', land: '#1d2421', border: '#46524c', text: '#a5b1ab', halo: '#131816', way: '#4fc59d',
	green: '#1e2e25', building: '#29322d', road: '#3b4641', roadEdge: '#141a17', dim: true,
};

interface Ground {
	land: FeatureCollection<MultiPolygon>;
	borders: Feature<MultiLineString>;
	names: FeatureCollection<Point>;
}

const addresses = { coarse: coarseAddress, fine: fineAddress };
type Detail = keyof typeof addresses;

const grounds: Partial<Record<Detail, Promise<Ground>>> = {};
let finest: Ground | undefined; // that is there

async function load(detail: Detail): Promise<Ground> {
	const response = await fetch(addresses[detail]);
	const world = (await response.json()) as Topology<{ countries: GeometryCollection<{ name: string }> }>;
	const countries = feature(world, world.objects.countries).features.map((country) => ({
		name: country.properties.name,
		polygons: (country.geometry.type === 'Polygon' ? [country.geometry.coordinates] :
			country.geometry.type === 'MultiPolygon' ? country.geometry.coordinates : []).map((rings) => rings.map(flat)),
	}));
	const borders = mesh(world, world.objects.countries, (a, b) => a !== b);
	const ground: Ground = {
		land: { type: 'FeatureCollection', features: countries.map(({ polygons }) => ({ type: 'Feature', properties: {},
			geometry: { type: 'MultiPolygon', coordinates: polygons } })) },
		borders: { type: 'Feature', properties: {}, geometry: { ...borders, coordinates: borders.coordinates.map(unrolled) } },
		names: {
			type: 'FeatureCollection',
			features: countries.flatMap(({ name, polygons }) => {
				const at = middle(polygons);
				return at ? [{ type: 'Feature' as const, properties: { name, size: at.size },
					geometry: { type: 'Point' as const, coordinates: [at.lng, at.lat] } }] : [];
			}),
		},
	};
	if (detail === 'fine' || !finest) finest = ground;
	return ground;
}

/** A line that goes on beyond 180° where it would jump from one edge of a flat map to the other. */
function unrolled(line: number[][]): number[][] {
	let turns = 0;
	return line.map(([lng = 0, lat = 0], i) => {
		const [before = lng] = line[i - 1] ?? [];
		if (lng - before > 180) turns -= 360;
		else if (before - lng > 180) turns += 360;
		return [lng + turns, lat];
	});
}

/** A ring of the Earth on a flat map: unrolled, and round the pole if it goes round the Earth. */
function flat(ring: number[][]): number[][] {
	const line = unrolled(ring);
	const [[first = 0, lat = 0] = [], [last = 0] = []] = [line[0], line[line.length - 1]];
	if (Math.abs(last - first) < 180) return line;
	const pole = lat < 0 ? -89 : 89;
	return [...line, [last, pole], [first, pole], [first, lat]];
}

/** The centre of the largest of some polygons, and how large that is in square degrees. */
function middle(polygons: number[][][][]): { lng: number; lat: number; size: number } | null {
	let best: { lng: number; lat: number; size: number } | null = null;
	for (const [ring = []] of polygons) {
		let area = 0, lng = 0, lat = 0;
		for (let i = 0; i + 1 < ring.length; i++) {
			const [x1 = 0, y1 = 0] = ring[i] ?? [], [x2 = 0, y2 = 0] = ring[i + 1] ?? [];
			const cross = x1 * y2 - x2 * y1;
			area += cross;
			lng += (x1 + x2) * cross;
			lat += (y1 + y2) * cross;
		}
		if (area !== 0 && Math.abs(area) / 2 > (best?.size ?? 0)) {
			best = { lng: lng / (3 * area), lat: lat / (3 * area), size: Math.abs(area) / 2 };
		}
	}
	return best;
}

const noTowns: FeatureCollection<Point> = { type: 'FeatureCollection', features: [] };
let towns: Promise<FeatureCollection<Point>> | undefined;
let townsThere: FeatureCollection<Point> | undefined;

async function loadTowns(): Promise<FeatureCollection<Point>> {
	const response = await fetch('/console/towns.json');
	if (!response.ok) throw new Error(`${response.url}: ${response.status}`);
	const { names, at } = (await response.json()) as { names: string; at: number[] };
	const features = names.split('\n').map((name, rank) => ({ type: 'Feature' as const, properties: { name, rank },
		geometry: { type: 'Point' as const, coordinates: [(at[2 * rank] ?? 0) / 100, (at[2 * rank + 1] ?? 0) / 100] } }));
	return (townsThere = { type: 'FeatureCollection', features });
}

/** Names of towns, the largest first, for a ground that has no tiles which name them. */
function townsOf(): Promise<FeatureCollection<Point>> {
	towns ??= loadTowns();
	towns.catch(() => (towns = undefined)); // so that the next one tries again
	return towns;
}

let own: Promise<Tiles | null> | undefined;

async function loadTiles(): Promise<Tiles | null> {
	const response = await fetch('/console/basemap.json');
	if (!response.ok) throw new Error(`${response.url}: ${response.status}`);
	const { tiles } = (await response.json()) as { tiles: string | null };
	return tiles === null ? null : (await import('./tiles')).openTiles(tiles);
}

/** The operator's own tiles, or null if there are none. It fails if there are some that cannot be read. */
export function ownTiles(): Promise<Tiles | null> {
	own ??= loadTiles();
	own.catch(() => (own = undefined)); // so that the next one tries again
	return own;
}

/** The land, its borders and the names of countries. */
export function groundOf(detail: Detail): Promise<Ground> {
	const asked = (grounds[detail] ??= load(detail));
	asked.catch(() => delete grounds[detail]); // so that the next one tries again
	return asked;
}

/** The style of the map in some colours on the finest ground that is there, with the operator's own tiles if there are any that can be read. */
export async function styleOf(colors: Colors, own: Promise<Tiles | null | 'unreadable'>): Promise<StyleSpecification> {
	const [coarse, read] = await Promise.all([groundOf('coarse'), own]);
	const { land, borders, names } = finest ?? coarse;
	const later = finest === coarse ? 'none' : 'visible';
	const tiles = read === 'unreadable' ? null : read;
	return {
		version: 8,
		sources: {
			...tiles?.sources,
			land: { type: 'geojson', data: land, attribution: 'Natural Earth' },
			borders: { type: 'geojson', data: borders },
			names: { type: 'geojson', data: names },
			...(tiles ? {} : { towns: { type: 'geojson' as const, data: townsThere ?? noTowns, attribution: 'GeoNames' } }),
		},
		layers: [
			{ id: 'sea', type: 'background', paint: { 'background-color': colors.sea } },
			{ id: 'land', type: 'fill', source: 'land', paint: { 'fill-color': colors.land, 'fill-antialias': later === 'visible' } },
			{ id: 'borders', type: 'line', source: 'borders', layout: { visibility: later }, paint: { 'line-color': colors.border, 'line-width': 1 } },
			...(tiles?.layers(colors) ?? []),
			...(tiles ? [] : [{
				id: 'towns', type: 'symbol' as const, source: 'towns', minzoom: 4,
				filter: ['<', ['get', 'rank'], ['step', ['zoom'], 300, 5, 1500, 6, 5000, 7, 12_000]] as FilterSpecification,
				layout: {
					'text-field': ['get', 'name'] as ExpressionSpecification, 'text-size': 11, 'text-font': ['sans-serif'],
					'symbol-sort-key': ['get', 'rank'] as ExpressionSpecification, 'text-padding': 6,
				},
				paint: { 'text-color': colors.text, 'text-halo-color': colors.halo, 'text-halo-width': 1.2 },
			}]),
			{
				id: 'names', type: 'symbol', source: 'names', maxzoom: 7,
				layout: {
					visibility: later, 'text-field': ['get', 'name'], 'text-size': 12, 'text-font': ['sans-serif'],
					'symbol-sort-key': ['-', 0, ['get', 'size']], 'text-padding': 8,
				},
				paint: { 'text-color': colors.text, 'text-halo-color': colors.halo, 'text-halo-width': 1.2 },
			},
		],
	};
}

/** Puts the fine ground under a map, and shows what stands on it, unless that is so. What does not come the next map asks for again. */
export async function refine(map: MapLibre) {
	if (!map.style) return; // it was closed
	const fine = await groundOf('fine').catch(() => null);
	if (!map.style || map.getLayer('borders')?.visibility !== 'none') return; // it was closed, or got another style
	for (const [name, data] of Object.entries(fine ?? {})) void map.getSource<GeoJSONSource>(name)?.setData(data);
	map.setPaintProperty('land', 'fill-antialias', true);
	for (const layer of ['borders', 'names']) map.setLayoutProperty(layer, 'visibility', 'visible');
	if (!map.getSource('towns')) return; // its tiles have names
	const named = await townsOf().catch(() => null); // without them the map is as good as it was
	if (map.style && named) void map.getSource<GeoJSONSource>('towns')?.setData(named);
}
