import { answered, api, failureOf, listed, type Failure, type Schemas } from './api';

export type Alert = Schemas['Alert'];

const kept = 2000; // of the newest
const pause = 2000; // ms between two questions how many wait

/** The alerts of the account that this page knows: the newest that wait, those that came since, and those that a list loaded. */
class Alerts {
	all = $state.raw<Alert[]>([]);
	came = $state.raw<string[]>([]); // ids of those that came while this page was open and nobody has seen to, the newest first
	withdrawn = $state.raw<ReadonlySet<string>>(new Set()); // ids of those that turned out to be none while this page was open
	waiting = $state(0); // how many nobody has taken note of, as the interface counts them
	misses = $state(0); // grows when something may have been missed, so that lists are to be loaded again
	fault = $state.raw<Failure | null>(null);
	#counting: ReturnType<typeof setTimeout> | undefined;

	async load() {
		try {
			const answer = await listed<Alert>(
				api.GET('/v1/alerts', { params: { query: { per_page: 100, acknowledged: false } } }),
			);
			this.take(answer.data ?? []);
			this.waiting = answer.pagination.total ?? 0;
			this.fault = null;
		} catch (error) {
			this.fault = failureOf(error);
		}
	}

	/** Loads again what may have been missed. */
	missed() {
		this.misses++;
		void this.load();
	}

	/** Takes an alert that was just told. */
	hear(alert: Alert) {
		const known = this.all.some((other) => other.id === alert.id);
		this.take([alert]);
		this.#count();
		if (!known && !alert.late && alert.status !== 'withdrawn') this.came = [alert.id, ...this.came].slice(0, 20);
	}

	/** Puts an alert out of the way that came. */
	hide(id: string) {
		this.came = this.came.filter((other) => other !== id);
	}

	/** Takes alerts, or what became of them. */
	take(these: readonly Alert[]) {
		const by = new Map(this.all.map((alert) => [alert.id, alert]));
		const gone = new Set(this.withdrawn);
		for (const alert of these) {
			const known = by.get(alert.id);
			if (known && known.revision > alert.revision) continue;
			if (alert.status === 'withdrawn') {
				by.delete(alert.id);
				gone.add(alert.id);
				continue;
			}
			gone.delete(alert.id);
			// An event does not tell who took note: what is known of that stays.
			by.set(alert.id, known?.acknowledged_at && !alert.acknowledged_at ? { ...alert, acknowledged_at: known.acknowledged_at } : alert);
		}
		this.withdrawn = gone;
		this.all = [...by.values()].sort((a, b) => Date.parse(b.from ?? '') - Date.parse(a.from ?? '')).slice(0, kept);
	}

	/** Somebody took note of an alert. */
	noted(id: string, at: string) {
		this.all = this.all.map((alert) => (alert.id === id && !alert.acknowledged_at ? { ...alert, acknowledged_at: at } : alert));
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
			listed<Alert>(api.GET('/v1/alerts', { params: { query: { per_page: 1, acknowledged: false } } }))
				.then((answer) => (this.waiting = answer.pagination.total ?? 0))
				.catch(() => {}); // the number stays what it was until the next one comes
		}, after);
	}
}

export const alerts = new Alerts();
