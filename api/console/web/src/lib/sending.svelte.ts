import { Failure, failureOf, Once } from './api';
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

/** What a page sends that has forms, of which one is open at a time. Opening one forgets what came of the one before. */
export class Forms<F extends string> extends Sending {
	open = $state<F | ''>('');
	readonly once = new Once(); // of the form that is open

	/** Opens a form, or closes it if it is open. */
	begin(form: F) {
		this.fault = null;
		this.open = this.open === form ? '' : form;
		this.once.drop();
	}

	/** Does what a form or an act without one asks for, closes the form, and shows what came of it. */
	finish(what: () => Promise<unknown>, show: () => Promise<unknown>): Promise<boolean> {
		return this.run(async () => {
			await what();
			this.open = '';
		}, show);
	}
}
