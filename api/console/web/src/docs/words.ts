import { say } from '../lib/settings.svelte';
import { named, type Schema } from './document';

// What the schema of a value says, in words for people.

/** What a value is, in a few words, with the schema that it refers to. */
export function typeOf(schema: Schema | undefined): { words: string; schema: string }[] {
	if (!schema) return [];
	const name = named(schema);
	if (name) return [{ words: name, schema: name }];
	const either = schema.anyOf ?? schema.oneOf;
	if (either) return either.flatMap((one, i) => [...(i ? [{ words: say('docsOr'), schema: '' }] : []), ...typeOf(one)]);
	const types = [schema.type ?? 'any'].flat();
	if (types.includes('array')) {
		return [{ words: say('docsArrayOf'), schema: '' }, ...typeOf(schema.items), ...(types.includes('null') ? [{ words: `${say('docsOr')}null`, schema: '' }] : [])];
	}
	return [{ words: types.join(say('docsOr')) + (schema.format ? ` (${schema.format})` : ''), schema: '' }];
}

/** What is required of a value beside its type. */
export function bounds(schema: Schema): string {
	const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern } = schema;
	const span = (a: number | undefined, b: number | undefined) =>
		a !== undefined && b !== undefined ? [say('docsBetween', { a, b })] : a !== undefined ? [say('docsAtLeast', { a })] : b !== undefined ? [say('docsAtMost', { b })] : [];
	return [
		...span(minimum, maximum),
		...span(minLength, maxLength).map((n) => say('docsCharacters', { n, of: maxLength ?? minLength ?? '' })),
		...span(minItems, maxItems).map((n) => say('docsItems', { n, of: maxItems ?? minItems ?? '' })),
		...(pattern ? [say('docsMatches', { p: pattern })] : []),
	].join(', ');
}
