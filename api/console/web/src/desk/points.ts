import { catalogue, type Text } from '../lib/texts';
import { say } from '../lib/settings.svelte';

// What is looked at in a handover. An inspection has it in the words of whoever did it.

export const points = ['pointBody', 'pointInside', 'pointTyres', 'pointLights', 'pointPapers'] as const satisfies Text[];
const kept = [...points, 'photos', 'renterSignature'] as const;

/** A point of an inspection, in the language that was chosen if it is one of ours. */
export function pointWords(point: string | null | undefined): string {
	const known = kept.find((one) => Object.values(catalogue).some((words) => words[one] === point));
	return known ? say(known) : (point ?? '');
}
