import { answered, api, listed, wordsOf, type Schemas } from './api';

export type Alert = Schemas['Alert'];

const kept = 200; // of the newest

/** The newest alerts of the account. */
class Alerts {
	all = $state.raw<Alert[]>([]);
	came = $state.raw<string[]>([]); // ids of those that came while this page was open and nobody has seen to, the newest first
	loaded = $state(false);
	fault = $state('');
	waiting = $derived(this.all.filter((alert) => !alert.acknowledged_at).length);

	async load() {
		try {
			const answer = await listed<Alert>(
				api.GET('/v1/alerts', { params: { query: { per_page: 100, acknowledged: false } } }),
			);
			for (const alert of answer.data ?? []) this.take(alert);
			this.loaded = true;
			this.fault = '';
		} catch (error) {
			this.fault = wordsOf(error);
		}
	}

	/** Takes an alert that was just told. */
	hear(alert: Alert) {
		const known = this.all.some((other) => other.id === alert.id);
		this.take(alert);
		if (!known && !alert.late && alert.status !== 'withdrawn') this.came = [alert.id, ...this.came].slice(0, 20);
	}

	/** Puts an alert out of the way that came. */
	hide(id: string) {
		this.came = this.came.filter((other) => other !== id);
	}

	/** Takes an alert, or what became of one. */
	take(alert: Alert) {
		const known = this.all.find((other) => other.id === alert.id);
		if (known && known.revision > alert.revision) return;
		const others = this.all.filter((other) => other.id !== alert.id);
		if (alert.status === 'withdrawn') {
			this.all = others;
			return;
		}
		// An event does not tell who took note: what is known of that stays.
		const merged = known?.acknowledged_at && !alert.acknowledged_at ? { ...alert, acknowledged_at: known.acknowledged_at } : alert;
		this.all = [merged, ...others]
			.sort((a, b) => Date.parse(b.from ?? '') - Date.parse(a.from ?? ''))
			.slice(0, kept);
	}

	/** Somebody took note of an alert. */
	noted(id: string, at: string) {
		this.all = this.all.map((alert) => (alert.id === id && !alert.acknowledged_at ? { ...alert, acknowledged_at: at } : alert));
	}

	async acknowledge(id: string) {
		this.take(await answered(api.POST('/v1/alerts/{id}/acknowledge', { params: { path: { id } } })));
	}
}

export const alerts = new Alerts();
