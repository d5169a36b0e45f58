import { answered, Failure, failureOf } from './api';
import { fleet } from './fleet.svelte';
import { names } from './names.svelte';
import { say } from './settings.svelte';

type Body = Record<string, unknown>;

function members(value: unknown): Body | null {
	return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Body) : null;
}

/** The merge patch that takes another one back: each member as it was, and null where there was none. */
export function backOf(patch: object, was: object | null | undefined): Body {
	return Object.fromEntries(Object.entries(patch).map(([name, value]) => {
		const had = (was as Body | null | undefined)?.[name];
		const [within, before] = [members(value), members(had)];
		return [name, within && before ? backOf(within, before) : had === undefined || had === '' ? null : had];
	}));
}

/** What a form changed last. It can be taken back while nobody has changed the record since. */
class Undo {
	offered = $state.raw<(() => Promise<object>) | null>(null);
	back = $state(false); // it was taken back
	fault = $state.raw<Failure | null>(null);
	turn = $state(0); // grows with what is taken back: the page that is shown then shows it

	/** Changes a record and offers to take that back, unless it cannot be told what the record was. */
	async change<T extends object & { revision?: number }>(was: object | null, patch: object,
		send: (patch: unknown, headers: Record<string, string>) => Promise<{ data?: T; error?: unknown; response: Response }>, whole = true): Promise<T> {
		const now = await answered(send(patch, {}));
		this.drop();
		const back = backOf(patch, was);
		if (whole && Object.keys(patch).length) this.offered = () => answered(send(back, { 'If-Match': `"r${now.revision}"` }));
		return now;
	}

	async takeBack() {
		const offered = this.offered;
		this.drop();
		try {
			const now = (await offered?.()) as { id?: string; name?: string } | undefined;
			this.back = true;
			if (now?.id) names.note(now.id, now.name);
			names.again(); // what is known of the record elsewhere on the page
			void fleet.again();
		} catch (error) {
			const fault = failureOf(error);
			this.fault = fault.status === 412 ? new Failure(0, { detail: say('changedSince') }) : fault;
		}
		this.turn++;
	}

	drop() {
		this.offered = null;
		this.back = false;
		this.fault = null;
	}
}

export const undo = new Undo();
