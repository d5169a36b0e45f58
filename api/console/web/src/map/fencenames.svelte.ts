import { allFences, onMap, type Geofence } from '../fences/fences.svelte';
import type { Fence } from './fencelayers';

/** The fences of the account, asked for when somebody first wants one. */
class Fences {
	all = $state.raw<Geofence[]>([]);
	fault = $state('');
	#asked = false;

	load() {
		if (this.#asked) return;
		this.#asked = true;
		allFences().then((found) => (this.all = found), (error: unknown) => {
			this.#asked = false;
			this.fault = error instanceof Error ? error.message : String(error);
		});
	}

	/** Loads them anew, as one was made or changed here. */
	again() {
		this.#asked = false;
		this.load();
	}

	get onMap(): Fence[] {
		return this.all.map(onMap);
	}

	/** The name of a fence; its id until the names have come. */
	nameOf(id: string): string {
		this.load();
		return this.all.find((g) => g.id === id)?.name ?? id;
	}
}

export const fences = new Fences();
