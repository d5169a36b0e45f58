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

/** The number that somebody typed, if any. */
export function numberOf(typed: string | number | null | undefined): number | undefined {
	return typed == null || typed === '' ? undefined : Number(typed);
}

/** The amount that somebody typed, if any. What is no amount is refused by the interface, which says so at its field. */
export function amountOf(typed: string, currency: string): Money | undefined {
	return typed.trim() ? (moneyOf(typed, currency) ?? { amount: -1, currency }) : undefined;
}
