import { say, settings } from './settings.svelte';

// Quantities as people read them. What comes in is what /v1 answers: miles, miles per hour, instants.

const kmPerMile = 1.609344;

function number(value: number, digits = 0): string {
	return new Intl.NumberFormat(settings.language, { maximumFractionDigits: digits, minimumFractionDigits: digits }).format(
		value,
	);
}

export function speed(mph: number | null | undefined): string {
	if (mph == null) return say('unknown');
	return settings.units === 'metric' ? `${number(mph * kmPerMile)} km/h` : `${number(mph)} mph`;
}

export function distance(miles: number | null | undefined): string {
	if (miles == null) return say('unknown');
	const value = settings.units === 'metric' ? miles * kmPerMile : miles;
	return `${number(value, value < 100 ? 1 : 0)} ${settings.units === 'metric' ? 'km' : 'mi'}`;
}

export function percent(value: number | null | undefined): string {
	return value == null ? say('unknown') : `${number(value)} %`;
}

export function clock(at: number | string): string {
	return new Intl.DateTimeFormat(settings.language, { hour: '2-digit', minute: '2-digit', timeZone: settings.zone }).format(
		new Date(at),
	);
}

export function dayAndClock(at: number | string): string {
	return new Intl.DateTimeFormat(settings.language, {
		dateStyle: 'medium',
		timeStyle: 'short',
		timeZone: settings.zone,
	}).format(new Date(at));
}

export function duration(seconds: number): string {
	const minutes = Math.round(seconds / 60);
	if (minutes < 1) return `${Math.max(0, Math.round(seconds))} s`;
	if (minutes < 60) return `${minutes} min`;
	if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
	return `${number(minutes / 1440)} d`;
}

export function ago(at: number | null, now: number): string {
	if (!at) return say('unknown');
	const seconds = (now - at) / 1000;
	return seconds < 20 ? say('justNow') : say('ago', { t: duration(seconds) });
}

/** The words of an identifier such as out_of_service. */
export function words(identifier: string): string {
	const text = identifier.replaceAll('_', ' ');
	return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The date, as 2026-11-24, of an instant in the account's zone. */
export function localDay(at: number): string {
	return new Intl.DateTimeFormat('en-CA', { dateStyle: 'short', timeZone: settings.zone }).format(new Date(at));
}

/** Whether a text is a day, as 2026-11-24. */
export function isDay(text: string): boolean {
	const at = Date.parse(`${text}T00:00:00Z`);
	return at >= 0 && new Date(at).toISOString().startsWith(`${text}T`);
}

/** The instants at which a local day begins and ends, whatever its length. */
export function spanOf(day: string): { from: number; until: number } {
	const begin = (date: string): number => {
		// What the clock of the zone shows at a guess says how far the guess is off; twice, as days of change shift it.
		let at = Date.parse(`${date}T00:00:00Z`);
		const target = at;
		for (let turn = 0; turn < 2; turn++) at += target - shown(at);
		return shown(at) < target ? at + target - shown(at) : at; // where there is no midnight, the first instant after it
	};
	const next = new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
	return { from: begin(day), until: begin(next) };
}

/** What the clock of the account's zone shows at an instant, as if it were UTC. */
function shown(at: number): number {
	const parts = new Intl.DateTimeFormat('en-CA', {
		timeZone: settings.zone,
		hourCycle: 'h23',
		year: 'numeric',
		month: '2-digit',
		day: '2-digit',
		hour: '2-digit',
		minute: '2-digit',
		second: '2-digit',
	}).formatToParts(new Date(at));
	const of = (type: string) => Number(parts.find((part) => part.type === type)?.value ?? 0);
	return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
}
