import { follow, type Message, type StreamState } from './stream';

// Reads the stream beside the page, and hands on a few times a second what came: of each vehicle its newest place alone.

/** A place of a vehicle: its id, when, latitude, longitude, course, miles per hour, ignition. */
export type Move = [string, number, number, number, number | null, number | null, boolean | null];

/** An event that is no place. */
export interface Told {
	type: string;
	timestamp: string;
	data: { object: Record<string, unknown> };
}

/** What a page is handed. */
export interface Batch {
	moves: Move[];
	events: Told[];
	state?: StreamState;
	reset?: boolean; // something was missed
	refused?: boolean;
}

const gather = 200; // ms
let moves = new Map<string, Move>();
let events: Told[] = [];
let soon: ReturnType<typeof setTimeout> | undefined;

function send(more: Partial<Batch> = {}) {
	clearTimeout(soon);
	soon = undefined;
	const batch: Batch = { moves: [...moves.values()], events, ...more };
	moves = new Map();
	events = [];
	postMessage(batch);
}

interface Place {
	vehicle_id: string;
	fix_at: string;
	lat: number;
	lng: number;
	course_deg: number | null;
	speed_mph: number | null;
	ignition: boolean | null;
}

function heard(m: Message) {
	if (m.event === 'reset') return send({ reset: true });
	const event = JSON.parse(m.data) as Told;
	if (event.type === 'vehicle.location.updated') {
		const p = event.data.object as unknown as Place;
		moves.set(p.vehicle_id, [p.vehicle_id, Date.parse(p.fix_at), p.lat, p.lng, p.course_deg, p.speed_mph, p.ignition]);
	} else events.push(event);
	soon ??= setTimeout(send, gather);
}

addEventListener('message', ({ data }: MessageEvent<{ path: string; credential: Record<string, string> }>) => {
	const to = { message: heard, state: (state: StreamState) => send({ state }), refused: () => send({ refused: true }) };
	void follow(data.path, data.credential, to, new AbortController().signal);
});
