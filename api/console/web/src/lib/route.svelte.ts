// What the address of the page says: which view, and what is chosen in it, so that a link shows the same again.

class Route {
	path = $state(location.pathname);
	query = $state(new URLSearchParams(location.search));

	constructor() {
		window.addEventListener('popstate', () => this.#read());
	}

	#read() {
		this.path = location.pathname;
		this.query = new URLSearchParams(location.search);
	}

	/** Goes to a page, and a place of it. */
	go(path: string, query: Record<string, string> = {}, at = '') {
		const text = new URLSearchParams(query).toString();
		history.pushState(null, '', (text ? `${path}?${text}` : path) + at);
		this.#read();
	}

	/** Goes to the page that another address means, without a step back to that. */
	instead(path: string) {
		history.replaceState(null, '', path);
		this.#read();
	}

	/** The parts of the path: bookings, bkg_1, pickup. */
	get parts(): string[] {
		return this.path.split('/').filter((part) => part);
	}

	/** Changes what is chosen without a step back to it. */
	set(name: string, value: string) {
		const query = new URLSearchParams(location.search);
		if (value) query.set(name, value);
		else query.delete(name);
		const text = query.toString();
		history.replaceState(null, '', text ? `${location.pathname}?${text}` : location.pathname);
		this.#read();
	}

	get(name: string): string {
		return this.query.get(name) ?? '';
	}
}

export const route = new Route();
