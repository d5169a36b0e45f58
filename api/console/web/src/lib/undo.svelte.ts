import { answered, Failure, failureOf, maybeDone } from './api';
import { membersOf } from './changes';
import { fleet } from './fleet.svelte';
import { names } from './names.svelte';
import { say } from './settings.svelte';

type Body = Record<string, unknown>;

/** The merge patch that takes another one back: each member as it was, and null where there was none. */
export function backOf(patch: object, was: object | null | undefined): Body {
	return Object.fromEntries(Object.entries(patch).map(([name, value]) => {
		const had = (was as Body | null | undefined)?.[name];
		const [within, before] = [membersOf(value), membersOf(had)];
		return [name, within && before ? backOf(within, before) : had === undefined || had === '' ? null : had];
	}));
}

interface Revised {
	revision?: number;
}

/** What a form changed last. It can be taken back while nothing else has changed the record since. */
class Undo {
	offered = $state.raw<(() => Promise<object>) | null>(null);
	back = $state(false); // it was taken back
	told = $state(''); // what is not as it was all the same
	fault = $state.raw<Failure | null>(null);
	turn = $state(0); // grows when something was taken back: the page that is shown then shows it

	/**
	 * Changes a record and offers to take that back; not if others changed it while the form was open, as that would take theirs back too,
	 * and not if the caller says that something of it cannot be as it was.
	 */
	async change<T extends object & Revised>(was: (object & Revised) | null, patch: object,
		send: (patch: unknown, headers: Record<string, string>) => Promise<{ data?: T; error?: unknown; response: Response }>, { possible = true, told = () => '' }: { possible?: boolean; told?: (now: T) => string } = {}): Promise<T> {
		const now = await answered(send(patch, {}));
		this.drop();
		const back = backOf(patch, was);
		if (possible && now.revision === (was?.revision ?? 0) + 1) {
			this.offered = async () => {
				const undone = await answered(send(back, { 'If-Match': `"r${now.revision}"` }));
				this.told = told(undone);
				return undone;
			};
		}
		return now;
	}

	async takeBack() {
		const offered = this.offered;
		this.drop();
		try {
			const now = (await offered?.()) as { id?: string; name?: string } | undefined;
			if (now?.id) names.note(now.id, now.name);
			names.again(); // what is known of the record elsewhere on the page
			void fleet.again();
			this.turn++;
			if (!this.offered) this.back = true; // nothing else was changed meanwhile
		} catch (error) {
			const fault = failureOf(error);
			if (this.offered) return;
			if (maybeDone(fault)) this.offered = offered; // it can be tried again
			this.fault = fault.status === 412 ? new Failure(0, { detail: say('changedSince') }) : fault;
		}
	}

	drop() {
		this.offered = null;
		this.back = false;
		this.told = '';
		this.fault = null;
	}
}

export const undo = new Undo();
