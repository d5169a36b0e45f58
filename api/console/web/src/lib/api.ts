import createClient, { type Middleware } from 'openapi-fetch';
import type { components, paths } from '../client/schema';
import { session } from './session.svelte';
import { say } from './settings.svelte';

export type Schemas = components['schemas'];

const withKey: Middleware = {
	onRequest({ request }) {
		for (const [name, value] of Object.entries(session.headers())) request.headers.set(name, value);
		return request;
	},
	onResponse({ response }) {
		if (response.status === 401) session.ended();
	},
	onError: () => new Failure(0, { detail: say('noAnswer') }),
};

/** The interface, typed by its own description. */
export const api = createClient<paths>({ baseUrl: '/' });
api.use(withKey);

type Problem = Partial<Schemas['Problem']>;

/** Failure is what the interface said when it refused, in words for people. */
export class Failure extends Error {
	constructor(
		readonly status: number,
		readonly problem: Problem,
	) {
		super(problem.detail ?? problem.title ?? String(status));
	}

	/** What is wrong with a field: the member of the body at a JSON pointer. */
	of(pointer: string): string {
		const found = this.problem.errors?.filter((e) => e.pointer === pointer || e.pointer.startsWith(`${pointer}/`));
		return found?.map((e) => e.detail).join(' ') ?? '';
	}
}

/** What was thrown, as a Failure. */
export function failureOf(error: unknown): Failure {
	return error instanceof Failure ? error : new Failure(0, { detail: wordsOf(error) });
}

/** The parts that a page shows beside its record. One that does not come leaves the others, and is told of in the end. */
export class Parts {
	#failed: unknown[] = [];

	/** What is there of a part: nothing if it failed, or if it is not for a key of these scopes, which is no failure. */
	async of<T>(part: Promise<T>): Promise<T | null> {
		try {
			return await part;
		} catch (error) {
			if (failureOf(error).status !== 403) this.#failed.push(error);
			return null;
		}
	}

	/** Throws what the first part threw that failed. */
	tell() {
		if (this.#failed.length) throw this.#failed[0];
	}
}

/** What an answer has, or a Failure. */
export async function answered<T>(asked: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
	const { data, error, response } = await asked;
	if (response.ok && data !== undefined) return data;
	throw new Failure(response.status, { title: `${response.status} ${response.statusText}`, ...(error as Problem | undefined) });
}

/** What a removal answers is nothing, or a Failure. */
export async function removed(asked: Promise<{ error?: unknown; response: Response }>): Promise<void> {
	const { error, response } = await asked;
	if (!response.ok) throw new Failure(response.status, { title: `${response.status} ${response.statusText}`, ...(error as Problem | undefined) });
}

/**
 * Gives posts an Idempotency-Key, the same for the same body to the same address until one succeeds: one whose answer was lost
 * is carried out once, however often it is sent. A page has one for its forms and one for its acts that have no form.
 */
export class Once {
	#keys = new Map<string, string>(); // by what is sent

	readonly fetch = async (request: Request): Promise<Response> => {
		const sent = `${request.url} ${await request.clone().text()}`;
		const key = this.#keys.get(sent) ?? randomKey();
		this.#keys.set(sent, key);
		request.headers.set('Idempotency-Key', key);
		const response = await fetch(request);
		if (response.ok) {
			await response.clone().arrayBuffer(); // until all of it has come, it may be lost
			this.#keys.delete(sent);
		}
		return response;
	};

	/** Forgets the keys: the same words are another act from now on, as a form is opened again or what stands was shown. */
	drop() {
		this.#keys.clear();
	}
}

/** As crypto.randomUUID has it, which browsers have over TLS alone. */
function randomKey(): string {
	return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Whether what was asked for may have been done all the same. */
export function maybeDone(failure: Failure): boolean {
	return failure.status === 0 || failure.status >= 500;
}

/** The words of whatever was thrown. */
export function wordsOf(error: unknown): string {
	return error instanceof Error && error.message ? error.message : say('failed');
}

/** A page of a list. */
export interface Paged<T> {
	data: T[] | null;
	pagination: { next_cursor?: string | null; total?: number };
}

/** A page of a list that could be had as a table too, so that its description does not say what it has. */
export function listed<T>(asked: Promise<{ data?: unknown; error?: unknown; response: Response }>): Promise<Paged<T>> {
	return answered(asked as Promise<{ data?: Paged<T>; error?: unknown; response: Response }>);
}

/** All records of a list, page by page; each page is handed on as it comes. */
export async function everyPage<T>(page: (cursor?: string) => Promise<Paged<T>>, take: (records: T[]) => void) {
	let cursor: string | undefined;
	do {
		const answer = await page(cursor);
		take(answer.data ?? []);
		cursor = answer.pagination.next_cursor ?? undefined;
	} while (cursor);
}

/** Saves an answer of the interface as a file. A link would not carry a key. */
export async function download(path: string, name: string) {
	const response = await fetch(path, { headers: session.headers() }).catch(() => {
		throw new Failure(0, { detail: say('noAnswer') });
	});
	if (!response.ok) {
		const problem = (await response.json().catch(() => ({}))) as Problem;
		throw new Failure(response.status, { title: response.statusText, ...problem });
	}
	const address = URL.createObjectURL(await response.blob());
	const link = document.createElement('a');
	link.href = address;
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
