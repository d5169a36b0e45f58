import type { Schemas } from '../lib/api';
import { milesInput, milesOf } from '../lib/format';

/** What stood on a vehicle's instruments, as people type it. */
export interface Reading {
	mileage: string;
	level: string; // percent, of the tank or the battery
	electric: boolean;
}

interface Read {
	mileage_mi?: number;
	fuel_pct?: number;
	battery_level?: number;
}

/** A reading of the interface in a form. */
export function typed(mileage: number | null | undefined, fuel: number | null | undefined, battery: number | null | undefined, electric = false): Reading {
	const charged = battery != null && fuel == null;
	const level = charged ? battery : fuel;
	return { mileage: milesInput(mileage), level: level == null ? '' : String(Math.round(level)), electric: charged || (fuel == null && electric) };
}

/** What was typed, as the interface takes it; without what stood there before, so that nothing is rounded twice. */
export function readOf(now: Reading, before?: Reading): Read {
	const mileage = now.mileage === before?.mileage ? undefined : milesOf(now.mileage);
	const level = now.level === before?.level || !now.level.trim() ? undefined : Number(now.level);
	return {
		...(mileage === undefined ? {} : { mileage_mi: mileage }),
		...(level === undefined ? {} : now.electric ? { battery_level: level } : { fuel_pct: level }),
	};
}

/** The same of the vehicle that goes out in a swap. */
export function goneWith(read: Read): Pick<Schemas['BookingSwap'], 'pickup_mileage_mi' | 'pickup_fuel_pct' | 'pickup_battery_level'> {
	return Object.fromEntries(Object.entries(read).map(([name, value]) => [`pickup_${name}`, value]));
}
