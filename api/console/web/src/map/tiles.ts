import {
	addProtocol, type ExpressionSpecification, type FillLayerSpecification, type FilterSpecification, type LayerSpecification,
	type LineLayerSpecification, type SourceSpecification,
} from 'maplibre-gl';
import { FetchSource, PMTiles, Protocol, ResolvedValueCache, TileType } from 'pmtiles';
import { light, type Colors } from './basemap';

// The operator's own basemap: a PMTiles file, of which parts are read as they are looked at. This module is loaded only
// where there is such a file.

/** What a basemap adds to the style of the map. */
export interface Tiles {
	sources: Record<string, SourceSpecification>;
	layers: (colors: Colors) => LayerSpecification[];
}

type Drawn = FillLayerSpecification | LineLayerSpecification;

const protocol = new Protocol();
addProtocol('pmtiles', protocol.tile);

/** Opens the file at an address of this server. It fails if the file cannot be read, or has no layer that is known. */
export async function openTiles(address: string): Promise<Tiles> {
	// This cache keeps what was read and no failures, so that a part is asked for again when the network is back.
	const archive = new PMTiles(new FetchSource(address), new ResolvedValueCache());
	protocol.add(archive);
	const header = await archive.getHeader();
	const metadata = (await archive.getMetadata()) as { attribution?: unknown; vector_layers?: unknown };
	const { minZoom, maxZoom, minLon, minLat, maxLon, maxLat } = header;
	const bounded = minLon < maxLon && minLat < maxLat;
	const source = {
		tiles: [`pmtiles://${address}/{z}/{x}/{y}`], minzoom: minZoom, maxzoom: maxZoom, attribution: asText(metadata.attribution),
		...(bounded ? { bounds: [minLon, minLat, maxLon, maxLat] as [number, number, number, number] } : {}),
	};
	if (header.tileType !== TileType.Mvt) {
		return {
			sources: { tiles: { type: 'raster', tileSize: 256, ...source } },
			layers: ({ dim }) => [{
				id: 'tiles', type: 'raster', source: 'tiles',
				paint: dim ? { 'raster-brightness-max': 0.55, 'raster-saturation': -0.4 } : {},
			}],
		};
	}
	const named = namesOf(metadata.vector_layers); // empty if the file does not say which layers it has
	const has = ({ 'source-layer': name = '' }: Drawn) => named.size === 0 || named.has(name);
	if (!drawing(light).some(has)) throw new Error(`no layer of ${address} is known`);
	const sources: Tiles['sources'] = { tiles: { type: 'vector', ...source } };
	// Where a file has water and no land, everything in its bounds is land until its water is drawn.
	const under = bounded && named.size > 0 && !named.has('earth');
	if (under) {
		sources['tiles-land'] = { type: 'geojson', data: { type: 'Polygon', coordinates: [
			[[minLon, minLat], [maxLon, minLat], [maxLon, maxLat], [minLon, maxLat], [minLon, minLat]],
		] } };
	}
	const drawn = (colors: Colors) => {
		const land: Drawn = { id: 'tiles-land', type: 'fill', source: 'tiles-land', minzoom: minZoom, paint: { 'fill-color': colors.land } };
		return [...(under ? [land] : []), ...drawing(colors).filter(has)];
	};
	return { sources, layers: drawn };
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ', copy: '©', '#169': '©' };

/**
 * What a file says of its makers, which is HTML as a rule, as text for a place that takes HTML. No parser of the
 * browser's sees it: that would ask the policy of the page about what stands in it.
 */
function asText(html: unknown): string {
	if (typeof html !== 'string') return '';
	const text = html.replace(/<[^>]*>/g, '').replace(/&([#\w]+);/g, (whole, name: string) => entities[name] ?? whole);
	return text.trim().slice(0, 300).replace(/&/g, '&amp;').replace(/</g, '&lt;');
}

function namesOf(layers: unknown): Set<string> {
	return new Set(Array.isArray(layers) ? layers.map((layer: { id?: unknown } | null) => String(layer?.id)) : []);
}

// The layers are those of Protomaps and of OpenMapTiles, which call most things by other names.

const kind: ExpressionSpecification = ['coalesce', ['get', 'kind'], ['get', 'pmap:kind'], ['get', 'class'], ''];
const kindIn = (...kinds: string[]): ExpressionSpecification => ['in', kind, ['literal', kinds]];
const areas: ExpressionSpecification = ['==', ['geometry-type'], 'Polygon'];
const ways: ExpressionSpecification = ['==', ['geometry-type'], 'LineString'];

const green = kindIn('park', 'national_park', 'nature_reserve', 'protected_area', 'forest', 'wood', 'grass', 'grassland', 'meadow', 'scrub',
	'cemetery', 'golf_course', 'garden', 'village_green', 'recreation_ground', 'pitch', 'allotments', 'orchard');
const fast = ['highway', 'motorway', 'trunk'];
const main = ['major_road', 'medium_road', 'primary', 'secondary', 'tertiary'];
const paths = ['path', 'track', 'pedestrian', 'footway', 'other'];
const near: ExpressionSpecification = ['all', ways, ['!', kindIn(...paths, 'rail', 'transit', 'ferry')]];

/** How wide ways are at some zooms: fast roads, main roads and all others, each so much wider. */
function width(more: number): ExpressionSpecification {
	const at = (ofFast: number, ofMain: number, other: number): ExpressionSpecification =>
		['match', kind, fast, ofFast + more, main, ofMain + more, other + more];
	return ['interpolate', ['exponential', 1.5], ['zoom'], 5, at(0.6, 0.3, 0.1), 10, at(1.8, 1, 0.4), 14, at(5, 3.5, 1.6), 18, at(26, 20, 12)];
}

/** All that is drawn, from below to above. */
function drawing(c: Colors): Drawn[] {
	const fill = (layer: string, color: string, filter: FilterSpecification = areas, minzoom = 0): Drawn =>
		({ id: `tiles-${layer}`, type: 'fill', source: 'tiles', 'source-layer': layer, filter, minzoom, paint: { 'fill-color': color } });
	const line = (layer: string, name: string, filter: FilterSpecification, minzoom: number, color: string, wide: number | ExpressionSpecification): Drawn => ({
		id: `tiles-${layer}-${name}`, type: 'line', source: 'tiles', 'source-layer': layer, filter, minzoom,
		layout: { 'line-cap': 'round', 'line-join': 'round' }, paint: { 'line-color': color, 'line-width': wide },
	});
	const roads = (layer: string): Drawn[] => [
		line(layer, 'paths', ['all', ways, kindIn(...paths)], 14, c.border, 1),
		line(layer, 'edges', near, 10, c.roadEdge, width(1.5)),
		line(layer, 'ways', near, 10, c.road, width(0)),
		// From afar a road is a line by itself.
		{ ...line(layer, 'afar', ['all', ways, kindIn(...fast, ...main)], 0, c.border, width(0.3)), maxzoom: 10 },
		line(layer, 'rails', ['all', ways, kindIn('rail', 'transit')], 11, c.border, 0.8),
	];
	return [
		fill('earth', c.land),
		fill('landcover', c.green, ['all', areas, green]),
		fill('landuse', c.green, ['all', areas, green]),
		fill('park', c.green),
		fill('water', c.sea),
		line('water', 'ways', ways, 8, c.sea, 1.2),
		line('waterway', 'ways', ways, 8, c.sea, 1.2),
		fill('building', c.building, areas, 14),
		fill('buildings', c.building, areas, 14),
		...roads('roads'),
		...roads('transportation'),
		line('boundaries', 'ways', ['all', ways, kindIn('country', 'region')], 0, c.border, 1),
		line('boundary', 'ways', ['all', ways, ['<=', ['to-number', ['get', 'admin_level'], 9], 4], ['!=', ['get', 'maritime'], 1]], 0, c.border, 1),
	];
}
