import { api, everyPage, listed, type Schemas } from '../lib/api';
import type { Fence } from '../map/fencelayers';

/** A fence, of which all members were asked for. */
export type Geofence = Schemas['Geofence'] & Required<Pick<Schemas['Geofence'], 'name' | 'geometry'>>;

/** All fences of the account, by their names. */
export async function allFences(): Promise<Geofence[]> {
	const all: Geofence[] = [];
	await everyPage<Geofence>(
		(cursor) => listed(api.GET('/v1/geofences', { params: { query: { per_page: 100, sort: 'name', ...(cursor ? { cursor } : {}) } } })),
		(found) => all.push(...found),
	);
	return all;
}

/** A fence as a map shows it. */
export function onMap(g: Geofence): Fence {
	return { id: g.id, name: g.name, color: g.color ?? '', geometry: g.geometry };
}
