import { fromAfar } from './afar';
import { say, settings } from './settings.svelte';

// Quantities as people read them. What comes in is what /v1 answers: miles, miles per hour, instants.

const kmPerMile = 1.609344;

// Made once for each language: making one costs a hundred times what using it does.
const formats = new Map<string, Intl.NumberFormat>();

export function number(value: number, digits = 0): string {
	const name = `${settings.language} ${digits}`;
	let format = formats.get(name);
	if (!format) {
		format = new Intl.NumberFormat(settings.language, { maximumFractionDigits: digits, minimumFractionDigits: digits });
		formats.set(name, format);
	}
	return format.format(value);
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

export function area(km2: number): string {
	const value = settings.units === 'metric' ? km2 : km2 / kmPerMile ** 2;
	return `${number(value, value >= 1 ? 0 : value >= 0.1 ? 1 : 2)} ${settings.units === 'metric' ? 'km²' : 'mi²'}`;
}

/** An address of the interface as people read it. */
export function addressText(address: string): string {
	const afar = fromAfar(address);
	if (!afar) return address;
	const away = settings.units === 'metric' ? `${number(afar.km)} km` : distance(afar.km / kmPerMile);
	return say('nearTown', { d: away, w: say('points').split(' ')[afar.point] ?? '', p: afar.town });
}

export function percent(value: number | null | undefined, digits = 0): string {
	return value == null ? say('unknown') : `${number(value, digits)} %`;
}

/** A number that is of no unit. */
export function decimal(value: number, digits = 0): string {
	return number(value, digits);
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

export function duration(seconds: number, days: 'forDays' | 'agoDays' = 'forDays'): string {
	const minutes = Math.round(seconds / 60);
	if (minutes < 1) return say('forSeconds', { n: Math.max(0, Math.round(seconds)) });
	if (minutes < 60) return say('forMinutes', { n: minutes });
	if (minutes < 48 * 60) return say('forHours', { h: Math.floor(minutes / 60), n: minutes % 60 });
	return say(days, { n: number(minutes / 1440) });
}

export function ago(at: number | null, now: number): string {
	if (!at) return say('unknown');
	const seconds = (now - at) / 1000;
	return seconds < 20 ? say('justNow') : say('ago', { t: duration(seconds, 'agoDays') });
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
	return { from: atClock(`${day}T00:00`), until: atClock(`${dayAfter(day, 1)}T00:00`) };
}

/** The day so many days after a day. */
export function dayAfter(day: string, days: number): string {
	return new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
}

/** The instant at which the clock of the account's zone shows a time, as 2026-11-24T09:00. */
function atClock(local: string): number {
	// What the clock of the zone shows at a guess says how far the guess is off; twice, as days of change shift it.
	let at = Date.parse(`${local}Z`);
	const target = at;
	for (let turn = 0; turn < 2; turn++) at += target - shown(at);
	return shown(at) < target ? at + target - shown(at) : at; // where there is no such time, the first instant after it
}

/** What an input of a date and a time holds, as an instant of the interface; undefined if it is empty. */
export function instantOf(local: string): string | undefined {
	const at = local ? atClock(local.slice(0, 16)) : NaN;
	return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}

/** What an input of a date and a time is to hold for an instant. */
export function localInput(at: number | string): string {
	return new Date(shown(new Date(at).getTime())).toISOString().slice(0, 16);
}

/** A date of the interface, as people read it. */
export function dayText(day: string | null | undefined, style: 'medium' | 'short' = 'medium'): string {
	if (!day) return say('unknown');
	return new Intl.DateTimeFormat(settings.language, { dateStyle: style, timeZone: 'UTC' }).format(new Date(`${day}T00:00:00Z`));
}

/** A day of the week and of the month, for the head of a calendar. */
export function weekday(day: string): [string, string] {
	const format = (parts: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(settings.language, { ...parts, timeZone: 'UTC' }).format(new Date(`${day}T00:00:00Z`));
	return [format({ weekday: 'short' }), format({ day: 'numeric', month: 'numeric' })];
}

/** Money of the interface: an amount in the smallest unit of its currency. */
export interface Money {
	amount: number;
	currency: string;
}

function digitsOf(currency: string): number {
	return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
}

export function money(m: Money | null | undefined): string {
	if (!m) return '–';
	const format = new Intl.NumberFormat(settings.language, { style: 'currency', currency: m.currency });
	return format.format(m.amount / 10 ** digitsOf(m.currency));
}

/** What an input of an amount takes: no more decimals than the currency has. */
export function amountPattern(currency: string, signed = false): string {
	const digits = digitsOf(currency);
	return `${signed ? '-?' : ''}[0-9]+${digits ? `([.,][0-9]{1,${digits}})?` : ''}`;
}

/** What an input of an amount holds for money. */
export function amountInput(m: Money | null | undefined): string {
	return m ? (m.amount / 10 ** digitsOf(m.currency)).toFixed(digitsOf(m.currency)) : '';
}

/** Money that somebody typed, with a point or a comma; undefined if there is none. */
export function moneyOf(text: string, currency: string): Money | undefined {
	const value = Number(text.trim().replace(',', '.'));
	if (!text.trim() || !Number.isFinite(value)) return undefined;
	return { amount: Math.round(value * 10 ** digitsOf(currency)), currency };
}

/** The fee for each mile, as the interface has it, and for each kilometre where people reckon in those. */
export function perDistance(m: Money | null | undefined): string {
	if (!m) return '';
	const mile = say('perMile', { m: money(m) });
	return settings.units === 'metric' ? `${say('perKm', { m: money({ ...m, amount: Math.round(m.amount / kmPerMile) }) })} (${mile})` : mile;
}

export function distanceUnit(): string {
	return settings.units === 'metric' ? 'km' : 'mi';
}

/** Miles that somebody typed in the units that were chosen; undefined if there are none. */
export function milesOf(text: string | number | null | undefined): number | undefined {
	const value = Number(text);
	if (text == null || text === '' || !Number.isFinite(value)) return undefined;
	return Math.round(settings.units === 'metric' ? value / kmPerMile : value);
}

/** What an input of a distance holds for miles. */
export function milesInput(miles: number | null | undefined): string {
	if (miles == null) return '';
	return String(Math.round(settings.units === 'metric' ? miles * kmPerMile : miles));
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

export function speedUnit(): string {
	return settings.units === 'metric' ? 'km/h' : 'mph';
}

/** How people read a unit of the interface: what a value of it is multiplied by, and what is added. */
interface Reading {
	unit: string;
	factor: number;
	offset?: number;
}

// A way is metres that vehicles go, and is read in kilometres or miles; all other metres are short.
const metric: Record<string, Reading> = {
	mph: { unit: 'km/h', factor: kmPerMile }, mi: { unit: 'km', factor: kmPerMile }, 'm/s': { unit: 'km/h', factor: 3.6 }, way: { unit: 'km', factor: 0.001 },
};
const imperial: Record<string, Reading> = {
	'm/s': { unit: 'mph', factor: 3.6 / kmPerMile }, way: { unit: 'mi', factor: 0.001 / kmPerMile }, m: { unit: 'ft', factor: 1 / 0.3048 },
	'°C': { unit: '°F', factor: 1.8, offset: 32 }, l: { unit: 'gal', factor: 1 / 3.785411784 }, 'l/h': { unit: 'gal/h', factor: 1 / 3.785411784 },
};
const always: Record<string, Reading> = { s: { unit: 'min', factor: 1 / 60 }, percent: { unit: '%', factor: 1 }, bool: { unit: '', factor: 1 }, '1': { unit: '', factor: 1 } };

function readingOf(unit: string): Reading {
	if (unit === 'days') return { unit: say('unitDays'), factor: 1 };
	return (settings.units === 'metric' ? metric : imperial)[unit] ?? always[unit] ?? { unit, factor: 1 };
}

/** The unit in which people read what the interface has in another. */
export function unitName(unit: string): string {
	return readingOf(unit).unit;
}

/** The unit of a signal: its metres are a way. */
export function signalUnit(unit: string | null): string {
	return unit === 'm' ? 'way' : (unit ?? 'bool');
}

/** A value of the interface with its unit, as people read it. */
export function measured(value: number, unit: string): string {
	if (unit === 'bool') return say(value > 0 ? 'on' : 'off');
	if (unit === 's') return duration(value);
	if (unit === 'days' && value === 1) return say('unitDay');
	const { unit: name, factor, offset = 0 } = readingOf(unit);
	const read = value * factor + offset;
	return `${number(read, Number.isInteger(read) || Math.abs(read) >= 100 ? 0 : 1)} ${name}`.trim();
}

/** What an input holds for a value of the interface. */
export function unitInput(value: number | null | undefined, unit: string): string {
	if (value == null) return '';
	const { unit: name, factor, offset = 0 } = readingOf(unit);
	const read = value * factor + offset;
	return String(name === 'ft' ? Math.round(read) : Math.round(read * 100) / 100); // nobody draws by parts of a foot
}

/** The value of the interface that somebody typed. What an input was given and nobody changed is what it was, unrounded. */
export function unitOf(text: string | number | null | undefined, unit: string, was?: number | null): number | undefined {
	const typed = Number(text);
	if (text == null || text === '' || !Number.isFinite(typed)) return undefined;
	if (was != null && String(text) === unitInput(was, unit)) return was;
	const { factor, offset = 0 } = readingOf(unit);
	return Math.round(((typed - offset) / factor) * 10_000) / 10_000;
}
