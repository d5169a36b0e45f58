import { moneyOf, type Money } from './format';

function empty(value: unknown): boolean {
	return value == null || value === '' || (Array.isArray(value) && value.length === 0);
}

/** What a form changes of a record: what differs, and null where the record had something and the form has nothing. */
export function changes(wanted: Record<string, unknown>, was: object | null | undefined): Record<string, unknown> {
	const changed: Record<string, unknown> = {};
	for (const [name, typed] of Object.entries(wanted)) {
		const value = typeof typed === 'string' ? typed.trim() : typed;
		const had = (was as Record<string, unknown> | null | undefined)?.[name];
		if (empty(value)) {
			if (!empty(had)) changed[name] = null;
		} else if (JSON.stringify(value) !== JSON.stringify(had)) changed[name] = value;
	}
	return changed;
}

/** The members of a value that has some. */
export function membersOf(value: unknown): Record<string, unknown> | null {
	return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
}

/** The merge patch after which some members of a record are what is wanted: those that are not wanted go. */
export function patchTo(wanted: object, was: object, names: readonly string[]): Record<string, unknown> {
	const [will, had] = [wanted as Record<string, unknown>, was as Record<string, unknown>];
	const patch: Record<string, unknown> = {};
	for (const name of names) {
		const [within, before] = [membersOf(will[name]), membersOf(had[name])];
		if (within && before) {
			const inner = patchTo(within, before, [...new Set([...Object.keys(within), ...Object.keys(before)])]);
			if (Object.keys(inner).length) patch[name] = inner;
		} else if (empty(will[name])) {
			if (!empty(had[name])) patch[name] = null;
		} else if (JSON.stringify(will[name]) !== JSON.stringify(had[name])) patch[name] = will[name];
	}
	return patch;
}

/** The number that somebody typed, if any. */
export function numberOf(typed: string | number | null | undefined): number | undefined {
	return typed == null || typed === '' ? undefined : Number(typed);
}

/** The amount that somebody typed, if any. What is no amount is refused by the interface, which says so at its field. */
export function amountOf(typed: string, currency: string): Money | undefined {
	return typed.trim() ? (moneyOf(typed, currency) ?? { amount: -1, currency }) : undefined;
}
