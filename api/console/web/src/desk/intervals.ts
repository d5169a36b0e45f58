import { distance, milesInput, milesOf, number } from '../lib/format';
import { numberOf } from '../lib/changes';
import { say } from '../lib/settings.svelte';

/** After what a service comes due again: whatever of it comes first. */
export interface Interval {
	every_mi?: number | null;
	every_days?: number | null;
	every_months?: number | null;
	every_engine_hours?: number | null;
}

/** An interval as people read it, '' for none. */
export function intervalText(of: Interval): string {
	return [
		of.every_mi && say('everyDistance', { d: distance(of.every_mi) }), of.every_days && say('everyDays', { n: number(of.every_days) }),
		of.every_months && say('everyMonths', { n: number(of.every_months) }), of.every_engine_hours && say('everyHours', { n: number(of.every_engine_hours) }),
	].filter((text) => text).join(say('orElse'));
}

/** What the fields of a form hold for an interval. */
export function intervalInput(of: Interval): Record<string, string> {
	return { every_mi: milesInput(of.every_mi), every_days: String(of.every_days ?? ''), every_months: String(of.every_months ?? ''), every_engine_hours: String(of.every_engine_hours ?? '') };
}

/** Miles that a field holds: what it was, unless it was typed anew, as kilometres are rounded. */
export function milesTyped(text: string | undefined, was: number | null | undefined): number | undefined {
	return (text ?? '') === milesInput(was) ? (was ?? undefined) : milesOf(text);
}

/** What was typed of an interval. */
export function intervalOf(fields: Record<string, string>, was: Interval | null | undefined): Record<keyof Interval, number | undefined> {
	return {
		every_mi: milesTyped(fields['every_mi'], was?.every_mi), every_days: numberOf(fields['every_days']), every_months: numberOf(fields['every_months']),
		every_engine_hours: numberOf(fields['every_engine_hours']),
	};
}
