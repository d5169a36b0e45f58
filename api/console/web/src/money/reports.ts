import { answered, api, Failure, type Schemas } from '../lib/api';
import { dayAfter, dayText, decimal, duration, money, percent } from '../lib/format';
import { settings } from '../lib/settings.svelte';

export type View = Schemas['View'];
export type Row = Schemas['Row'];
export type Column = Schemas['Column'];
export type Definition = Schemas['Definition'];
type Asked<T> = Promise<{ data?: T; error?: unknown; response: Response }>;

const atOnce = 2; // questions under way: the interface refuses more than a few long ones of an account
const waiting: (() => void)[] = [];
let under = 0;

/** Asks for a report; all have the same form. It waits for its turn, and for that of others who ask the server. */
export async function ask(name: string, query: Record<string, string | number | undefined>): Promise<View> {
	const known = { ...Object.fromEntries(Object.entries(query).filter(([, value]) => value !== '' && value !== undefined)), units: settings.units };
	if (under >= atOnce) await new Promise<void>((go) => waiting.push(go));
	else under++;
	try {
		for (let turn = 1; ; turn++) {
			try {
				return await answered(api.GET(`/v1/reports/${name}` as '/v1/reports/revenue', { params: { query: known as never } }) as Asked<View>);
			} catch (error) {
				if (!(error instanceof Failure) || error.status !== 429 || turn === 6) throw error;
				await new Promise((again) => setTimeout(again, turn * 700));
			}
		}
	} finally {
		const next = waiting.shift();
		if (next) next();
		else under--;
	}
}

const definitions = new Map<string, Promise<Definition>>();

/** What the figures of a report mean. It is asked for once. */
export function definitionOf(name: string): Promise<Definition> {
	const known = definitions.get(name);
	if (known) return known;
	const asked = answered(api.GET(`/v1/reports/${name}/definition` as '/v1/reports/revenue/definition', {}));
	definitions.set(name, asked);
	asked.catch(() => definitions.delete(name));
	return asked;
}

/** A value as people read it, by the unit of its figure. */
export function shown(value: unknown, unit: string, currency: string): string {
	if (value === null || value === undefined) return '–';
	if (typeof value !== 'number') return unit === 'date' ? dayText(String(value)) : String(value);
	if (unit === 'money' || unit === 'amount' || unit.startsWith('per_')) return money({ amount: value, currency });
	if (unit === 'percent') return percent(value, 1);
	if (unit === 'seconds') return duration(value);
	return decimal(value, Number.isInteger(value) ? 0 : 1);
}

/** The number of a figure; null where there is none. */
export function numberOf(row: Row | undefined, name: string): number | null {
	const value = (row?.figures as Record<string, unknown> | undefined)?.[name];
	return typeof value === 'number' ? value : null;
}

/** The page of the entries that a figure is the sum of; '' if it is of none. The definition says whether their sign is turned. */
export function entriesOf(row: Row, name: string, definition: Definition | null, basis: string): string {
	const link = row.links[name];
	if (!link) return '';
	const query = new URLSearchParams(link.split('?')[1] ?? '');
	if (definition?.figures.find((f) => f.name === name)?.ledger[basis]?.entries_sign === -1) query.set('turned', 'true');
	return `/money/entries?${query}`;
}

/** The first day of the time after that which a day lies in. Weeks begin on Mondays. */
function following(group: string, day: string): string {
	const at = new Date(`${day}T00:00:00Z`);
	const [year, month, date] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
	const next: Record<string, number> = {
		week: Date.UTC(year, month, date - ((at.getUTCDay() + 6) % 7) + 7), month: Date.UTC(year, month + 1, 1),
		quarter: Date.UTC(year, month - (month % 3) + 3, 1), year: Date.UTC(year + 1, 0, 1),
	};
	return new Date(next[group] ?? Date.UTC(year, month, date + 1)).toISOString().slice(0, 10);
}

/** The days of the times of a period, each as far as it lies in the period. */
function split(from: string, until: string, group: string): Days[] {
	const all: Days[] = [];
	for (let day = from; day <= until; day = following(group, day)) {
		const last = dayAfter(following(group, day), -1);
		all.push({ from: day, until: last < until ? last : until });
	}
	return all;
}

export type Days = Pick<Row, 'from' | 'until'>;

/**
 * The days that a row's previous figures are of; null if there are none. The interface compares the first time of a period
 * with the first of the one before, and so on; whatever else a row is of is compared over the whole of it.
 */
export function daysBefore(view: View, row: Row): Days | null {
	if (!view.previous_from || !view.previous_until) return null;
	if (!row.key || !times.includes(view.group_by)) return { from: view.previous_from, until: view.previous_until };
	const at = split(view.from, view.until, view.group_by).findIndex((part) => part.from === row.from);
	return split(view.previous_from, view.previous_until, view.group_by)[at] ?? null;
}

/** The page of the entries that a previous figure is the sum of; '' if it is of none. */
export function entriesBefore(view: View, row: Row, name: string, definition: Definition | null): string {
	const days = daysBefore(view, row);
	const now = entriesOf(row, name, definition, view.basis);
	if (!days || !now) return '';
	const [path = '', text = ''] = now.split('?');
	const query = new URLSearchParams(text);
	if (query.has('from')) query.set('from', days.from); // what stands at a day has none
	query.set('until', days.until);
	return `${path}?${query}`;
}

/** The page of what a row is of; '' if it has none. */
export function placeOf(group: string, key: string): string {
	if (!key) return '';
	const page: Record<string, string> = { vehicle: '/vehicles', customer: '/customers', owner: '/customers', booking: '/bookings' };
	return page[group] ? `${page[group]}/${key}` : '';
}

export const times = ['day', 'week', 'month', 'quarter', 'year'];

/** What a row is called: a time by the language, all else as the interface calls it. */
export function labelOf(row: Row, group: string): string {
	const day = new Date(`${row.key}T00:00:00Z`);
	if (times.includes(group) && !Number.isNaN(day.getTime())) {
		const form = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(settings.language, { ...options, timeZone: 'UTC' }).format(day);
		if (group === 'year') return form({ year: 'numeric' });
		if (group === 'quarter') return `${Math.floor(day.getUTCMonth() / 3) + 1}/${day.getUTCFullYear()}`;
		if (group === 'month') return form({ month: 'short', year: 'numeric' });
		return form({ day: 'numeric', month: 'short', ...(group === 'day' ? {} : { year: '2-digit' }) });
	}
	return row.label || '–';
}
