/** How bad an issue is; one of the last keeps its vehicle in the yard until it is done with. */
export const severities = ['low', 'medium', 'high', 'safety_critical'] as const;

/** A description as a title: its first line, cut. */
export function titleOf(description: string | null | undefined, longest = 80): string {
	const [first = ''] = (description ?? '').split('\n');
	return first.length > longest ? `${first.slice(0, longest - 1)}…` : first;
}
