import type { Schemas } from './api';
import { dayAndClock, dayText, decimal, distance, money, percent, words, type Money } from './format';
import { names } from './names.svelte';
import { chargeWords } from './sentences';
import { session } from './session.svelte';
import { say, settings } from './settings.svelte';
import { choiceWords, stateWords } from './states';
import { memberTexts } from './texts.members';

// What changed of a record, in people's words. A member that texts.members.ts does not have is shown by its identifier.

const unit = /_(id|mi|pct|bp|at|on)$/;

/** What a member is called. */
export function memberName(name: string): string {
	const bare = name.replace(unit, '');
	const own = memberTexts[settings.language];
	const known = [name, bare].find((one) => Object.hasOwn(own, one)); // people name members too, "constructor" among them
	return (known && own[known]) || words(bare);
}

/** What the member at a JSON pointer is called, within what it is a member of. */
function memberAt(pointer: string): string {
	const parts = pointer.split('/').slice(1).map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
	const [first = '', ...within] = parts;
	const own = ['metadata', 'custom_fields', 'channels'].includes(first); // these are named by people
	return [memberName(first), ...within.map((part) => (own ? part : memberName(part)))].join(' · ');
}

const choices = ['status', 'channel', 'type', 'severity', 'fuel_type', 'transmission', 'ownership', 'risk_level', 'lifecycle', 'method', 'source', 'role', 'cancelled_by', 'depreciation_method', 'period'];
const kinds = { veh: 'vehicles', cus: 'customers', bkg: 'bookings', loc: 'locations', vcl: 'vehicle_classes', usr: 'users', key: 'api_keys' } as const;
const longest = 240; // letters of a value that are shown

function isMoney(value: object): value is Money {
	return 'amount' in value && 'currency' in value && typeof value.amount === 'number' && typeof value.currency === 'string';
}

/** An item of a list, as short as people call it by. */
function itemText(item: unknown): string {
	if (item === null || typeof item !== 'object') return valueText('', item);
	const of = item as Record<string, unknown>;
	if ('unit_price' in of) return `${chargeWords(of as never)}: ${money(of['amount'] as Money)}`;
	if (typeof of['description'] === 'string' && of['description']) return of['description'];
	if (typeof of['reason'] === 'string' && of['reason']) return of['reason'];
	if (typeof of['vehicle_id'] === 'string') return valueText('', of['vehicle_id']);
	if (typeof of['type'] === 'string') return stateWords(of['type']);
	return valueText('', item);
}

/** A value of a member, as people read it. */
function valueText(name: string, value: unknown): string {
	if (value === null || value === undefined || value === '') return '–';
	if (typeof value === 'boolean') return say(value ? 'yes' : 'no');
	if (typeof value === 'number') {
		if (name.endsWith('_mi')) return distance(value);
		if (name.endsWith('_bp')) return percent(value / 100, 2);
		if (name === 'pct' || name.endsWith('_pct') || name.endsWith('battery_level')) return percent(value);
		return name === 'year' ? String(value) : decimal(value, Number.isInteger(value) ? 0 : 2);
	}
	if (typeof value === 'string') {
		const kind = /^(veh|cus|bkg|loc|vcl|usr|key)_\w+$/.exec(value)?.[1] as keyof typeof kinds | undefined;
		if (kind) return names.of(kinds[kind], value);
		if (/^\d{4}-\d\d-\d\dT/.test(value)) return dayAndClock(value);
		if (/^\d{4}-\d\d-\d\d$/.test(value)) return dayText(value);
		if (choices.includes(name)) return choiceWords(name, value);
		return value.length > longest ? `${value.slice(0, longest)}…` : value;
	}
	if (Array.isArray(value)) return value.length ? value.map(itemText).join(', ') : '–';
	if (isMoney(value)) return money(value);
	const text = Object.entries(value as object).filter(([, v]) => v !== null && v !== '').map(([n, v]) => `${memberName(n)}: ${valueText(n, v)}`).join(', ');
	return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

/** What became of a member: of a list what went and what came, of others what it was and is. */
export interface Change {
	at: string; // its JSON pointer
	called: string;
	went: string[];
	came: string[];
	untold: boolean; // it is personal or secret, so that a history has no values of it
}

const beside = ['/status_since', '/deposit/changed_at']; // change with another member, and say no more than when that was
const pages = ['rate_snapshot']; // would be a page

function isGiven(value: unknown): boolean {
	return value !== null && value !== undefined;
}

/** The currency of an amount that changed: of its own revision if that changed it too, else as the record has it now. */
function currencyAt(pointer: string, all: Schemas['FieldChange'][], record: unknown, was: boolean): string {
	const changed = all.find((c) => c.field === `${pointer}/currency`);
	if (changed) return String((was ? changed.old : changed.new) ?? '');
	let of: unknown = record;
	for (const part of pointer.split('/').slice(1)) of = (of as Record<string, unknown> | null | undefined)?.[part];
	return (of as Partial<Money> | null | undefined)?.currency ?? (record as Partial<Money> | null)?.currency ?? session.currency;
}

/** The items of a list that another one lacks; of two that are equal each counts. */
function missing(from: unknown, to: unknown): string[] {
	const left = ((to ?? []) as unknown[]).map((one) => JSON.stringify(one));
	return ((from ?? []) as unknown[]).filter((one) => {
		const at = left.indexOf(JSON.stringify(one));
		if (at >= 0) left.splice(at, 1);
		return at < 0;
	}).map(itemText);
}

/** What a revision changed, as people read it. */
export function changesOf(all: Schemas['FieldChange'][], record: unknown): Change[] {
	const told: Change[] = [];
	for (const { field: at, old, new: now } of all) {
		const [, first = ''] = at.split('/');
		if (beside.includes(at)) continue;
		if (pages.includes(first)) {
			if (!told.some((one) => one.at === `/${first}`)) told.push({ at: `/${first}`, called: memberAt(`/${first}`), went: [], came: [], untold: false });
			continue;
		}
		const base = { at, called: memberAt(at), untold: !isGiven(old) && !isGiven(now) };
		const name = at.split('/').pop() ?? '';
		if ([old, now].every((value) => !isGiven(value) || Array.isArray(value)) && !base.untold) {
			told.push({ ...base, went: missing(old, now), came: missing(now, old) });
		} else if (name === 'amount' && typeof (old ?? now) === 'number') { // of money
			const of = at.slice(0, -'/amount'.length);
			const text = (amount: unknown, was: boolean) => (isGiven(amount) ? [money({ amount: Number(amount), currency: currencyAt(of, all, record, was) })] : []);
			told.push({ ...base, called: memberAt(of), went: text(old, true), came: text(now, false) });
		} else told.push({ ...base, went: isGiven(old) ? [valueText(name, old)] : [], came: isGiven(now) ? [valueText(name, now)] : [] });
	}
	return told;
}
