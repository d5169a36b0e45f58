declare module 'guide:all' {
	import type { Guide, Outline } from './prose';
	export const outlines: Outline[];
	export const load: Record<string, () => Promise<{ default: Guide }>>;
}
