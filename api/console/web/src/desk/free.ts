import { answered, api, everyPage, listed, type Schemas } from '../lib/api';

// Which vehicles a booking could be given.

type Booking = Schemas['Booking'];
const atOnce = 8; // calendars that are asked for

// Why availability does not offer a vehicle that the booking cannot have. All else is about a new booking: what it would
// cost, and that the class has none left, as this booking is one that it has promised a vehicle.
const hindrances = ['busy', 'elsewhere', 'not_in_fleet'];

/**
 * The ids of the vehicles that are free for what is left of a booking's time: of its class or of all, where it begins or
 * anywhere. It fails once the signal says stop.
 */
export async function freeFor(booking: Booking, allClasses: boolean, anywhere: boolean, signal: AbortSignal): Promise<string[]> {
	const begin = Math.max(Date.now(), booking.status === 'active' ? 0 : Date.parse(booking.pickup_at ?? ''));
	const from = new Date(begin).toISOString();
	const until = new Date(Math.max(Date.parse(booking.return_at ?? ''), begin + 3_600_000)).toISOString();
	const place = (!anywhere && booking.pickup_location_id) || '';
	const kind = (!allClasses && booking.vehicle_class_id) || '';

	const found: string[] = [];
	let answer: Schemas['Availability'];
	let page = 0;
	do {
		answer = await answered(api.GET('/v1/availability', { signal, params: { query: {
			pickup_at: from, return_at: until, page: ++page, per_page: 100, ...(kind ? { vehicle_class_id: kind } : {}), ...(place ? { pickup_location_id: place } : {}),
		} } }));
		found.push(...answer.data.map((v) => v.vehicle_id));
	} while (answer.data.length && found.length < answer.pagination.total);
	if (Object.keys(answer.not_available).every((reason) => hindrances.includes(reason))) return found;

	const all: Schemas['Vehicle'][] = [];
	await everyPage<Schemas['Vehicle']>((cursor) => listed(api.GET('/v1/vehicles', { signal, params: { query: {
		per_page: 100, status: 'available,rented,turnaround,maintenance', fields: 'id,current_location_id', ...(kind ? { vehicle_class_id: kind } : {}), ...(cursor ? { cursor } : {}),
	} } })), (records) => all.push(...records));
	const left = all.filter((v) => !found.includes(v.id) && v.id !== booking.vehicle_id && (!place || !v.current_location_id || v.current_location_id === place));
	while (left.length) {
		const free = await Promise.all(left.splice(0, atOnce).map(async ({ id }) => {
			const { holds } = await answered(api.GET('/v1/vehicles/{id}/calendar', { signal, params: { path: { id }, query: { from, until } } }));
			return holds.length ? '' : id;
		}));
		found.push(...free.filter((id) => id));
	}
	return found;
}
