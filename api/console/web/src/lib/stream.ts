// The live stream by fetch, as EventSource sends no key. It goes on where it broke off. A worker reads it, so that what
// comes every moment keeps no page from answering.

export interface Message {
	event: string;
	data: string;
}

interface Listener {
	message: (m: Message) => void;
	state: (s: StreamState) => void;
	refused: () => void; // the credential is good no more
}

export type StreamState = 'connecting' | 'live' | 'broken';

const silence = 40_000; // ms; something comes every 15 s

/** Follows a stream, with a credential, until the signal says stop. */
export async function follow(path: string, credential: Record<string, string>, to: Listener, stop: AbortSignal) {
	let last = '';
	let wait = 1000;
	to.state('connecting');
	while (!stop.aborted) {
		const attempt = new AbortController();
		const cut = () => attempt.abort();
		stop.addEventListener('abort', cut);
		let watch = setTimeout(cut, silence);
		try {
			const headers: Record<string, string> = { ...credential, Accept: 'text/event-stream' };
			if (last) headers['Last-Event-ID'] = last;
			const response = await fetch(path, { headers, signal: attempt.signal, cache: 'no-store' });
			if (response.status === 401) {
				to.refused();
				return;
			}
			if (!response.ok || !response.body) throw new Error(response.statusText);
			to.state('live');
			wait = 1000;
			const parser = new Parser();
			const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
			for (;;) {
				const { done, value } = await reader.read();
				if (done) break;
				clearTimeout(watch);
				watch = setTimeout(cut, silence);
				for (const message of parser.take(value)) {
					if (message.id !== undefined) last = message.id;
					if (message.data) tell(to, message);
				}
			}
		} catch {
			// Whatever broke it, it is begun again.
		} finally {
			clearTimeout(watch);
			stop.removeEventListener('abort', cut);
			attempt.abort(); // or it stays open, unread
		}
		if (stop.aborted) return;
		to.state('broken');
		await new Promise((resolve) => setTimeout(resolve, wait * (0.75 + Math.random() / 2)));
		wait = Math.min(wait * 2, 15_000);
	}
}

/** Hands a message on. One that cannot be understood is no fault of the connection. */
function tell(to: Listener, message: Message) {
	try {
		to.message(message);
	} catch (error) {
		console.warn('a message of the stream was not understood', message.event, error);
	}
}

/** Parser cuts server-sent events out of text that comes in pieces. */
export class Parser {
	#rest = '';

	take(piece: string): (Message & { id?: string })[] {
		const blocks = (this.#rest + piece).split('\n\n');
		this.#rest = blocks.pop() ?? '';
		return blocks.map((block) => {
			const message: Message & { id?: string } = { event: 'message', data: '' };
			for (const line of block.split('\n')) {
				const at = line.indexOf(':');
				if (at < 1) continue;
				const value = line.slice(at + 1).replace(/^ /, '');
				const name = line.slice(0, at);
				if (name === 'event') message.event = value;
				else if (name === 'data') message.data += (message.data ? '\n' : '') + value;
				else if (name === 'id') message.id = value;
			}
			return message;
		});
	}
}
