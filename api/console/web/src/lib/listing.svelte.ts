import { failureOf, type Failure, type Paged } from './api';

/** A list of the interface, a page after the other, asked for anew when what is asked for changes. */
export class Listing<T> {
	records = $state.raw<T[]>([]);
	total = $state(0);
	loading = $state(true);
	fault = $state.raw<Failure | null>(null);
	#next = $state('');
	#turn = 0;
	#ask: (cursor: { cursor?: string }) => Promise<Paged<T>>;

	constructor(ask: (cursor: { cursor?: string }) => Promise<Paged<T>>) {
		this.#ask = ask;
	}

	get more(): boolean {
		return this.#next !== '';
	}

	/** Loads the first page, or the one behind what is shown. What was asked before and answers later is left. */
	async load(behind = false) {
		const turn = ++this.#turn;
		this.loading = true;
		try {
			const page = await this.#ask(behind ? { cursor: this.#next } : {});
			if (turn !== this.#turn) return;
			this.records = behind ? [...this.records, ...(page.data ?? [])] : (page.data ?? []);
			this.total = page.pagination.total ?? this.records.length;
			this.#next = page.pagination.next_cursor ?? '';
			this.fault = null;
		} catch (error) {
			if (turn !== this.#turn) return;
			this.fault = failureOf(error);
		}
		this.loading = false;
	}

	/** Loads once somebody has typed the last letter; what it returns keeps it from that. What was asked before is left. */
	soon(): () => void {
		this.#turn++;
		const timer = setTimeout(() => void this.load(), 200);
		return () => clearTimeout(timer);
	}
}
