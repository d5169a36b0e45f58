import { answered, api, everyPage, listed, type Schemas } from './api';
import { fleet, named } from './fleet.svelte';
import { session } from './session.svelte';
import { say } from './settings.svelte';

// Names of what records point at. They are asked for once, when a page first shows one.

type Kind = 'customers' | 'vehicle_classes' | 'locations' | 'tasks' | 'vehicles' | 'bookings' | 'users' | 'api_keys' | 'issues' | 'work_orders';

class Names {
	#known = $state<Record<string, string>>({});
	classes = $state.raw<Schemas['VehicleClass'][]>([]);
	locations = $state.raw<Schemas['Location'][]>([]);
	#asked = new Set<string>();

	/** Loads the vehicle classes and locations, once. */
	load() {
		if (!this.#asked.has('all')) this.again();
	}

	/** Loads them anew, as one of them was changed. */
	again() {
		this.#asked.add('all');
		const query = (cursor?: string) => ({ params: { query: { per_page: 100, sort: 'name', ...(cursor ? { cursor } : {}) } } });
		const classes: Schemas['VehicleClass'][] = [];
		void everyPage<Schemas['VehicleClass']>((c) => listed(api.GET('/v1/vehicle_classes', query(c))), (found) => {
			classes.push(...found);
			this.classes = [...classes];
			for (const one of found) this.note(one.id, one.name);
		}).catch(() => this.#asked.delete('all'));
		const locations: Schemas['Location'][] = [];
		void everyPage<Schemas['Location']>((c) => listed(api.GET('/v1/locations', query(c))), (found) => {
			locations.push(...found);
			this.locations = [...locations];
			for (const one of found) this.note(one.id, one.name);
		}).catch(() => {});
	}

	note(id: string, name: string | null | undefined) {
		if (name) this.#known[id] = name;
	}

	/** The name of a record; its id until the name has come. */
	of(kind: Kind, id: string | null | undefined): string {
		if (!id) return '–';
		if (kind === 'vehicles') void fleet.version;
		const known = (kind === 'vehicles' && fleet.all.get(id)?.name) || this.#known[id];
		if (known) return known;
		if (!this.#asked.has(id)) {
			this.#asked.add(id);
			void this.#ask(kind, id).catch(() => {}); // the id stands for it
		}
		return id;
	}

	/** Who did something: a person, a key, or what did it by itself. */
	actor(id: string): string {
		if (id.startsWith('usr_')) return session.may('users:manage') ? this.of('users', id) : say('actorPerson');
		if (id.startsWith('key_')) return session.may('keys:manage') ? this.of('api_keys', id) : say('actorKey');
		const others = { cli: 'actorCli', system: 'actorSystem', demo: 'actorDemo' } as const;
		return id in others ? say(others[id as keyof typeof others]) : id;
	}

	async #ask(kind: Kind, id: string) {
		const params = { params: { path: { id } } };
		if (kind === 'customers') {
			const customer = await answered(api.GET('/v1/customers/{id}', params));
			this.note(id, customer.display_name);
		} else if (kind === 'vehicle_classes') this.note(id, (await answered(api.GET('/v1/vehicle_classes/{id}', params))).name);
		else if (kind === 'locations') this.note(id, (await answered(api.GET('/v1/locations/{id}', params))).name);
		else if (kind === 'vehicles') this.note(id, named(await answered(api.GET('/v1/vehicles/{id}', params))).name);
		else if (kind === 'bookings') this.note(id, (await answered(api.GET('/v1/bookings/{id}', params))).number);
		else if (kind === 'users') this.note(id, (await answered(api.GET('/v1/users/{id}', params))).name);
		else if (kind === 'api_keys') this.note(id, (await answered(api.GET('/v1/api_keys/{id}', params))).name);
		else if (kind === 'issues') this.note(id, (await answered(api.GET('/v1/maintenance/issues/{id}', params))).description);
		else if (kind === 'work_orders') this.note(id, (await answered(api.GET('/v1/maintenance/work_orders/{id}', params))).number);
		else this.note(id, (await answered(api.GET('/v1/maintenance/tasks/{id}', params))).name);
	}
}

export const names = new Names();
