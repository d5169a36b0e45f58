import { failureOf, type Failure } from './api';

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

	/** Does what asks the interface, and says whether it went well. */
	async run(what: () => Promise<unknown>): Promise<boolean> {
		this.busy = true;
		this.fault = null;
		try {
			await what();
		} catch (error) {
			this.fault = failureOf(error);
		} finally {
			this.busy = false;
		}
		return this.fault === null;
	}
}
