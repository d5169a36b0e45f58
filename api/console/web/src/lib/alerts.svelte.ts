import { answered, api, failureOf, listed, type Failure, type Schemas } from './api';

export type Alert = Schemas['Alert'];

const kept = 2000; // of the newest
const pause = 2000; // ms between two questions how many wait

/** The alerts of the account that this page knows: the newest that wait, those that came since, and those that a list loaded. */
class Alerts {
	all = $state.raw<Alert[]>([]);
	came = $state.raw<string[]>([]); // ids of those that came while this page was open and nobody has seen to, the newest first
	withdrawn = $state.raw<ReadonlyMap<string, number>>(new Map()); // by id, the revisions of those that turned out to be none while this page was open
	waiting = $state(0); // how many nobody has acknowledged, as the interface counts them
	misses = $state(0); // grows when something may have been missed, so that lists are to be loaded again
	fault = $state.raw<Failure | null>(null);
	#counting: ReturnType<typeof setTimeout> | undefined;
	#shown: ReadonlySet<string> = new Set(); // ids of those that a list shows
	#stale = new Set<string>(); // ids of those that were known before something was missed, and not heard of since
	#loads = 0;
	#asked = 0; // how often it was asked how many wait
	#told = 0; // the newest of these questions that was answered

	async load() {
		const turn = ++this.#loads;
		const asked = ++this.#asked;
		try {
			const answer = await listed<Alert>(
				api.GET('/v1/alerts', { params: { query: { per_page: 100, acknowledged: false } } }),
			);
			this.#wait(asked, answer.pagination.total);
			if (turn !== this.#loads) return;
			this.all = this.all.filter((alert) => !this.#stale.has(alert.id));
			this.#stale.clear();
			this.take(answer.data ?? []);
			this.fault = null;
		} catch (error) {
			if (turn === this.#loads) this.fault = failureOf(error);
		}
	}

	/** Loads again what may have been missed. What was known and is not heard of again goes. */
	missed() {
		this.misses++;
		this.#stale = new Set(this.all.map((alert) => alert.id));
		void this.load();
	}

	/** Takes an alert that was just told. */
	hear(alert: Alert) {
		const known = this.all.some((other) => other.id === alert.id);
		this.take([alert]);
		this.#count();
		if (!known && !alert.late && this.all.some((other) => other.id === alert.id)) this.came = [alert.id, ...this.came].slice(0, 20);
	}

	/** Puts an alert out of the way that came. */
	hide(id: string) {
		this.came = this.came.filter((other) => other !== id);
	}

	/** Takes those that a list shows now, of which none is forgotten. */
	show(these: readonly Alert[]) {
		this.#shown = new Set(these.map((alert) => alert.id));
		this.take(these);
	}

	/** Takes alerts, or what became of them. */
	take(these: readonly Alert[]) {
		const by = new Map(this.all.map((alert) => [alert.id, alert]));
		const gone = new Map(this.withdrawn);
		for (const alert of these) {
			const known = by.get(alert.id);
			if (Math.max(known?.revision ?? 0, gone.get(alert.id) ?? 0) > alert.revision) continue;
			this.#stale.delete(alert.id);
			if (alert.status === 'withdrawn') {
				by.delete(alert.id);
				gone.set(alert.id, alert.revision);
				continue;
			}
			gone.delete(alert.id);
			// An event does not tell who acknowledged it: what is known of that stays.
			by.set(alert.id, known?.acknowledged_at && !alert.acknowledged_at ? { ...alert, acknowledged_at: known.acknowledged_at, acknowledged_by: known.acknowledged_by } : alert);
		}
		this.withdrawn = gone;
		const sorted = [...by.values()].sort((a, b) => Date.parse(b.from ?? '') - Date.parse(a.from ?? ''));
		this.all = sorted.filter((alert, i) => i < kept || this.#shown.has(alert.id));
	}

	/** Somebody has acknowledged an alert. */
	noted(id: string, at: string) {
		this.#stale.delete(id);
		this.all = this.all.map((alert) => (alert.id === id && !alert.acknowledged_at ? { ...alert, acknowledged_at: at } : alert));
		if (this.#shown.has(id)) void answered(api.GET('/v1/alerts/{id}', { params: { path: { id } } })).then((alert) => this.take([alert])).catch(() => {}); // who it was is not told
		this.#count();
	}

	async acknowledge(id: string) {
		this.take([await answered(api.POST('/v1/alerts/{id}/acknowledge', { params: { path: { id } } }))]);
		this.#count(0);
	}

	/** Asks how many wait, once for what comes in a moment. */
	#count(after = pause) {
		if (after === 0) {
			clearTimeout(this.#counting);
			this.#counting = undefined;
		}
		this.#counting ??= setTimeout(() => {
			this.#counting = undefined;
			const asked = ++this.#asked;
			listed<Alert>(api.GET('/v1/alerts', { params: { query: { per_page: 1, acknowledged: false } } }))
				.then((answer) => this.#wait(asked, answer.pagination.total))
				.catch(() => {}); // the number stays what it was until the next one comes
		}, after);
	}

	/** Takes how many wait, unless a later question was answered already. */
	#wait(asked: number, total: number | undefined) {
		if (asked < this.#told) return;
		this.#told = asked;
		this.waiting = total ?? 0;
	}
}

export const alerts = new Alerts();
