import { answered, api, everyPage, wordsOf, type Schemas } from './api';
import StreamWorker from './fleet.worker?worker';
import type { Batch, Move, Told } from './fleet.worker';
import { session } from './session.svelte';
import type { StreamState } from './stream';

/** What a vehicle does, as its colour says. */
export type Doing = 'moving' | 'idling' | 'stale' | 'parked' | 'offline' | 'nowhere';
export const doings: readonly Doing[] = ['moving', 'idling', 'stale', 'parked', 'offline', 'nowhere'];

/** A place on the Earth at an instant. */
export interface Spot {
	lat: number;
	lng: number;
	at: number; // ms
}

export interface Vehicle {
	id: string;
	name: string; // as people call it
	about: string; // what else tells it from others
	sought: string; // in what words are sought
	status: string;
	online: boolean;
	heardAt: number | null;
	spot: Spot | null;
	heading: number | null; // degrees
	mph: number | null;
	ignition: boolean | null;
	seen: number; // when the newest place came here, by this browser's clock
	before: { lat: number; lng: number } | null; // where it was shown when that came
	trail: number[]; // where it came from while this page was open: longitude, latitude, the oldest first
}

const fields = 'id,make,model,license_plate,nickname,fleet_number,status,online,last_heard_at,location,heading_deg,speed_mph,ignition_on,tags';
const slow = 2; // mph below which nothing drives
const fresh = 10 * 60_000; // ms for which a speed is believed

/** The words by which people know a vehicle: its name or plate, and what else there is. */
export function named(v: Pick<Schemas['Vehicle'], 'make' | 'model' | 'license_plate' | 'nickname'> & { fleet_number?: string | null }) {
	const known = [v.nickname, v.license_plate, v.fleet_number].filter((text) => text);
	const model = `${v.make} ${v.model}`.trim();
	return { name: known[0] ?? model, about: [...known.slice(1), known.length ? model : ''].filter((text) => text).join(' · ') };
}

/** What words are sought in: texts as they are, and without what people put between letters and digits. */
function soughtIn(texts: string[]): string {
	const text = texts.join('\n').toLowerCase();
	return `${text}\n${text.replace(/[^\p{L}\p{N}\n]/gu, '')}`;
}

export function doing(v: Vehicle, now: number): Doing {
	if (!v.spot) return 'nowhere';
	if (!v.online) return 'offline';
	const drives = (v.mph ?? 0) >= slow;
	if (now - v.spot.at >= fresh && (drives || v.ignition)) return 'stale'; // it went on, and nobody knows where to
	if (drives) return 'moving';
	return v.ignition ? 'idling' : 'parked';
}

const longest = 2 * 40; // numbers of a trail
const many = 1500; // vehicles from which on what is shown changes less often

/** The vehicles of the account, and where they are, as long as somebody looks. */
class Fleet {
	readonly all = new Map<string, Vehicle>();
	version = $state(0); // grows when something changed, twice a second at most
	known = $state(0); // grows when a vehicle came, went or got another name
	state = $state<StreamState>('connecting');
	lostAt = $state(0); // when it was live last, by this browser's clock
	loaded = $state(false);
	fault = $state('');
	movedAt = 0; // when the newest place came, by the clock of the page
	onAlert: (alert: Schemas['Alert']) => void = () => {};
	onReset: () => void = () => {}; // something was missed
	onAcknowledged: (id: string, at: string) => void = () => {};
	#stop: AbortController | undefined;
	#loading = false;
	#wanted = false; // once more, as something was asked for meanwhile
	#renamed = false;
	#worker: Worker | undefined;
	#sought = new Set<string>();
	#early = new Map<string, Move>(); // the newest of vehicles that are not known yet
	#follows = false; // whether something came by the stream, which then goes on where it broke off
	#unknown: ReturnType<typeof setTimeout> | undefined;
	#bump: ReturnType<typeof setTimeout> | undefined;

	start() {
		this.#stop = new AbortController();
		const stop = this.#stop.signal;
		const again = setInterval(() => document.hidden || this.#loading || void this.#load(), 60_000);
		const late = setTimeout(() => this.loaded || void this.#load(), 2000); // somebody may hold the stream back
		stop.addEventListener('abort', () => (clearInterval(again), clearTimeout(late)));
		void this.#first(stop);
		if (!session.may('telematics:read')) return;
		this.#worker = new StreamWorker();
		this.#worker.onmessage = ({ data }: MessageEvent<Batch>) => this.#heard(data);
		this.#worker.postMessage({ path: '/v1/stream?types=vehicle.location.updated,alerts', credential: session.headers() });
	}

	stop() {
		this.#stop?.abort();
		this.#worker?.terminate();
	}

	/** Whether there are so many vehicles that what is shown of them changes less often. */
	get many(): boolean {
		return this.all.size > many;
	}

	/** Loads the vehicles again, as one was made or changed here. */
	again(): Promise<void> {
		return this.#load();
	}

	#page(cursor?: string) {
		return answered(api.GET('/v1/vehicles', { params: { query: { per_page: 100, fields, ...(cursor ? { cursor } : {}) } } }));
	}

	/** Loads the first vehicles while the stream is not there yet, so that they can be drawn; of most accounts these are all. */
	async #first(stop: AbortSignal) {
		const page = await this.#page().catch(() => null); // the whole list says what is wrong
		if (!page || this.loaded || stop.aborted) return;
		for (const record of page.data ?? []) this.#take(record);
		this.loaded = !page.pagination.next_cursor;
		this.#changed();
	}

	/** Loads the vehicles, or loads them again: what is known from the stream and is newer stays. Once at a time. */
	async #load() {
		if (this.#loading) {
			this.#wanted = true;
			return;
		}
		this.#loading = true;
		const early = [...this.#early.keys()];
		try {
			const there = new Set<string>();
			await everyPage(
				(cursor) => this.#page(cursor),
				(records) => {
					for (const record of records) {
						there.add(record.id);
						this.#take(record);
					}
					this.#changed();
				},
			);
			for (const id of this.all.keys()) if (!there.has(id) && this.all.delete(id)) this.#renamed = true;
			for (const id of early) this.#early.delete(id); // those that are in no list
			this.fault = '';
			this.loaded = true;
			this.#changed();
		} catch (error) {
			this.fault = wordsOf(error);
		} finally {
			this.#loading = false;
			if (this.#wanted && !this.#stop?.signal.aborted) void this.#load();
			this.#wanted = false;
		}
	}

	#take(record: Schemas['Vehicle']) {
		const known = this.all.get(record.id);
		const { name, about } = named(record);
		const at = record.location ? Date.parse(record.location.recorded_at ?? '') : 0;
		const v: Vehicle = {
			id: record.id,
			name,
			about,
			sought: soughtIn([name, about, ...(record.tags ?? [])]),
			status: record.status ?? '',
			online: record.online ?? false,
			heardAt: record.last_heard_at ? Date.parse(record.last_heard_at) : null,
			spot: record.location ? { lat: record.location.lat, lng: record.location.lng, at } : null,
			heading: record.heading_deg ?? null,
			mph: record.speed_mph ?? null,
			ignition: record.ignition_on ?? null,
			seen: 0,
			before: null,
			trail: known?.trail ?? [],
		};
		if (known?.spot && known.spot.at >= at) {
			v.spot = known.spot;
			v.heading = known.heading;
			v.mph = known.mph;
			v.seen = known.seen;
			v.before = known.before;
			v.heardAt = Math.max(v.heardAt ?? 0, known.heardAt ?? 0) || null;
		}
		if (known?.name !== v.name || known.about !== v.about) this.#renamed = true;
		if (known) Object.assign(known, v);
		else this.all.set(v.id, v);
		const early = this.#early.get(v.id);
		if (early && this.#early.delete(v.id)) this.#moved(early);
	}

	#heard(batch: Batch) {
		if (batch.refused) return session.ended();
		if (batch.state) {
			if (this.state === 'live' && batch.state !== 'live') this.lostAt = Date.now();
			this.state = batch.state;
		}
		// Vehicles are loaded once the stream is there, or cannot be had: what comes between the two would be lost.
		if (batch.state === 'live' ? !this.#follows || !this.loaded : batch.state === 'broken' && !this.loaded) void this.#load();
		this.#follows ||= batch.moves.length + batch.events.length > 0;
		if (batch.reset) {
			void this.#load();
			this.onReset();
		}
		for (const move of batch.moves) this.#moved(move);
		for (const event of batch.events) this.#told(event);
	}

	#told(event: Told) {
		if (event.type === 'alert.acknowledged') {
			this.onAcknowledged(String(event.data.object['id']), event.timestamp);
		} else if (event.type.startsWith('alert.')) {
			this.onAlert(event.data.object as unknown as Schemas['Alert']);
		}
	}

	#moved(move: Move) {
		const [id, at, lat, lng, course, mph, ignition] = move;
		const v = this.all.get(id);
		if (!v) {
			this.#early.set(id, move);
			if (!this.loaded || this.#sought.has(id)) return;
			this.#sought.add(id); // once: one that is archived comes into no list
			return this.#soon();
		}
		if (v.spot && v.spot.at >= at) return;
		const now = performance.now();
		v.before = v.spot ? shownAt(v, now) : null;
		v.spot = { lat, lng, at };
		v.seen = this.movedAt = now;
		v.heading = course ?? v.heading;
		v.mph = mph;
		v.ignition = ignition ?? v.ignition;
		v.trail.push(lng, lat);
		if (v.trail.length > longest) v.trail.splice(0, v.trail.length - longest);
		if (Date.now() - at < fresh) {
			v.online = true;
			v.heardAt = Math.max(v.heardAt ?? 0, at);
		}
		this.#changed();
	}

	/** Loads the vehicles when there is one that is not known; of many new ones once. */
	#soon() {
		this.#unknown ??= setTimeout(() => {
			this.#unknown = undefined;
			if (!this.#stop?.signal.aborted) void this.#load();
		}, 2000);
	}

	#changed() {
		this.#bump ??= setTimeout(() => {
			this.#bump = undefined;
			if (this.#renamed) this.known++;
			this.#renamed = false;
			this.version++;
		}, this.many ? 1000 : 500);
	}
}

const glide = 900; // ms in which a vehicle comes to its newest place
const jump = 0.02; // degrees beyond which it does not glide

/** Where a vehicle is shown: it glides to its newest place. */
export function shownAt(v: Vehicle, now: number): { lat: number; lng: number } {
	const { spot, before } = v;
	if (!spot) return { lat: 0, lng: 0 };
	const part = (now - v.seen) / glide;
	if (!before || part >= 1 || Math.abs(before.lat - spot.lat) > jump || Math.abs(before.lng - spot.lng) > jump) return spot;
	return { lat: before.lat + (spot.lat - before.lat) * part, lng: before.lng + (spot.lng - before.lng) * part };
}

export const fleet = new Fleet();
