import { say, settings } from './settings.svelte';

const readers = { customer: 'customers:read', vehicle: 'vehicles:read', vehicle_class: 'vehicles:read' } as const;
const writers = ['bookings', 'customers', 'vehicles', 'maintenance', 'finance', 'telematics'] as const;

/**
 * Who uses this page: by the session of the browser, whose cookie no script can read, or by an API key, which stays in
 * the memory of this page.
 */
class Session {
	state = $state<'unknown' | 'out' | 'in'>('unknown');
	account = $state('');
	currency = $state('USD');
	fault = $state('');
	byKey = $state(false);
	#scopes = $state.raw<readonly string[]>([]);
	#key = '';
	#user = '';

	/** What each request says: the key, or as whom the page was opened, as all tabs have one session. */
	headers(): Record<string, string> {
		if (this.#key) return { Authorization: `Bearer ${this.#key}` };
		return this.#user ? { 'Motorpool-User': this.#user } : {};
	}

	/** Whether who is signed in has a scope, as far as this page was told. The interface decides. */
	may(scope: string): boolean {
		return this.#scopes.includes(scope) || this.#scopes.includes('admin');
	}

	/** Those of the records that others name which may be asked for along with them, for `expand`. */
	along(...names: (keyof typeof readers)[]): { expand?: string } {
		const may = names.filter((name) => this.may(readers[name]));
		return may.length ? { expand: may.join(',') } : {};
	}

	/** What who is signed in may not write, as words of data-acts. */
	get lacks(): string {
		return writers.filter((of) => !this.may(`${of}:write`)).join(' ');
	}

	/** Looks who it is, with a key if one is given. */
	async begin(key = '') {
		this.#key = key.trim();
		this.#user = '';
		this.fault = '';
		try {
			const response = await fetch('/v1/account', { headers: this.headers() });
			const answer = (await response.json()) as { name?: string; timezone?: string; currency?: string; user_id?: string | null; scopes?: string[]; detail?: string };
			if (response.ok) {
				this.account = answer.name ?? '';
				this.#user = answer.user_id ?? '';
				this.#scopes = answer.scopes ?? [];
				if (answer.currency) this.currency = answer.currency;
				if (answer.timezone) settings.zone = answer.timezone;
				this.byKey = this.#key !== '';
				this.state = 'in';
				return;
			}
			if (this.#key || response.status !== 401) this.fault = answer.detail ?? response.statusText;
		} catch (error) {
			this.fault = error instanceof Error ? error.message : String(error);
		}
		this.#key = '';
		this.state = 'out';
	}

	/** The credential is good no more. The page begins anew, so that nothing of the account stays in it. */
	ended() {
		if (this.state !== 'in') return;
		this.#key = '';
		this.state = 'unknown';
		location.reload();
	}

	async leave() {
		if (!this.byKey) {
			try {
				// All tabs have one session: it may be somebody else's by now, whom this page does not sign out.
				const own = await fetch('/v1/account', { headers: this.headers() });
				if (own.status === 401) return location.reload();
				if (!own.ok) throw new Error(own.statusText);
				const response = await fetch('/signout', { method: 'POST', body: new URLSearchParams(), redirect: 'manual' });
				if (response.status >= 400) throw new Error(response.statusText);
			} catch {
				this.fault = say('notSignedOut');
				return;
			}
		}
		this.#key = '';
		location.replace('/');
	}
}

export const session = new Session();
