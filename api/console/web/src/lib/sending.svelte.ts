import { Failure, failureOf } from './api';
import { say } from './settings.svelte';

/** What a form or page sends: whether it is under way, and what was refused of the last. */
export class Sending {
	busy = $state(false);
	fault = $state.raw<Failure | null>(null);

	/** Loads what a page shows. Meanwhile something can be sent. */
	async load(what: () => Promise<unknown>) {
		try {
			await what();
		} catch (error) {
			this.fault = failureOf(error);
		}
	}

	/** Does what asks the interface, shows what came of it, and says whether it was done, which it was even if it cannot be shown. */
	async run(what: () => Promise<unknown>, show?: () => Promise<unknown>): Promise<boolean> {
		this.busy = true;
		this.fault = null;
		let done = false;
		try {
			await what();
			done = true;
			await show?.();
		} catch (error) {
			this.fault = done ? new Failure(0, { detail: say('doneUnshown') }) : failureOf(error);
		} finally {
			this.busy = false;
		}
		return done;
	}
}
