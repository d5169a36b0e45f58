import type { Schemas } from './api';
import { dayAndClock, dayText, decimal, distance, money, percent, words, type Money } from './format';
import { names } from './names.svelte';
import { session } from './session.svelte';
import { say, settings } from './settings.svelte';
import { chargeWords, choiceWords, stateWords } from './states';
import type { Language } from './texts';

// The members of records in people's words, for what changed of one. Words that an identifier has in English are made of it, less
// its unit; a member that is not here is shown by its identifier.

const called: Record<Language, Record<string, string>> = {
	en: {
		vin: 'VIN', apr: 'Interest rate', split_s: 'Parts a trip after', no_data_s: 'Silent for', start_speed_mph: 'Begins at', stop_speed_mph: 'Ends at', start_distance_m: 'Begins after a way of',
		start_after_s: 'Begins after', stop_after_s: 'Ends after', line1: 'Street', line2: 'Second line', owner_share: "Owner's share", channels: 'Channels', metadata: 'Metadata', backdated: 'Written down afterwards',
		rate_snapshot: 'Agreed price', elsewhere: 'From another location', conflict: 'Overlaps something', set_by: 'By', set_at: 'At', licence: 'Licence', do_not_rent_matches: 'On the do-not-rent list', year: 'Year',
		overdue_noted_at: 'Overdue since', pickup_meter: 'Odometer at the pickup', billed_days: 'Days billed', located_at: 'At its location since', distinct_from: 'Somebody else than', upgrade_from_class: 'Upgrade from',
	},
	de: {
		acquired: 'Angeschafft', acquisition_cost: 'Anschaffungspreis', acquisition_mileage: 'Kilometerstand bei Anschaffung', actual_pickup: 'Abgeholt', actual_return: 'Zurückgegeben', address: 'Adresse',
		agreed_return_location: 'Vereinbarter Rückgabeort', amount: 'Betrag', applied: 'Verrechnet', apr: 'Zinssatz', assigned_to: 'Zuständig', at: 'Zeit', authorized: 'Reserviert', backdated: 'Nachträglich aufgeschrieben',
		battery_kwh: 'Akku (kWh)', battery_read: 'Ladestand', billed_days: 'Berechnete Tage', blocked_from: 'Gesperrt von', blocked_until: 'Gesperrt bis', body_type: 'Aufbau', buffer_after_minutes: 'Minuten frei danach',
		buffer_before_minutes: 'Minuten frei davor', cancellation: 'Stornierung', cancelled: 'Storniert', cancelled_by: 'Storniert von', captured: 'Eingezogen', category_ids: 'Kategorien', changed: 'Geändert', channel: 'Kanal',
		channels: 'Kanäle', charges: 'Posten', city: 'Ort', class: 'Klasse', code: 'Code', color: 'Farbe', company_name: 'Firma', confirmed: 'Bestätigt', conflict: 'Überschneidet sich', consents: 'Einwilligungen',
		corrections: 'Korrekturen', country: 'Land', currency: 'Währung', current_location: 'Standort jetzt', custom_fields: 'Eigene Felder', customer: 'Kunde', daily_rate: 'Tagespreis', damages: 'Schäden',
		date_of_birth: 'Geburtsdatum', default_deposit: 'Übliche Kaution', default_discount: 'Üblicher Rabatt', delivery_address: 'Zustelladresse', deposit: 'Kaution', deposit_amount: 'Kaution', depreciation_method: 'Abschreibung',
		display_name: 'Name', disposal: 'Verkauft', disposal_price: 'Verkaufspreis', distinct_from: 'Jemand anderes als', do_not_rent: 'Nicht vermieten', do_not_rent_matches: 'Auf der Sperrliste', doors: 'Türen', drivers: 'Fahrer',
		drivetrain: 'Antriebsart', duplicate_of: 'Dasselbe wie', elsewhere: 'Von anderem Standort', elsewhere_fee: 'Gebühr für anderen Standort', email: 'E-Mail', erased: 'Gelöscht', erasing_since: 'Wird gelöscht seit',
		erasure_reason: 'Grund der Löschung', expected: 'Erwartete Strecke', expected_life: 'Erwartete Laufleistung', expires: 'Gültig bis', external_refs: 'Fremde Nummern', external_reservation: 'Nummer beim Kanal',
		extra_mile_fee: 'Preis einer Mehrmeile', extras: 'Extras', fee: 'Gebühr', financing: 'Finanzierung', first_name: 'Vorname', first_payment: 'Erste Rate', fleet_number: 'Flottennummer', from: 'Von',
		fuel_capacity_gal: 'Tank (Gallonen)', fuel_read: 'Tankstand', fuel_type: 'Antrieb', granted: 'Erteilt', hold_expires: 'Gehalten bis', home_location: 'Heimatstandort', imported_pickup: 'Eingelesene Abholung',
		imported_return: 'Eingelesene Rückgabe', in_service: 'Im Einsatz seit', incidents_count: 'Vorfälle', included_miles_per_day: 'Freie Meilen je Tag', inspection_expires: 'Hauptuntersuchung bis', inspections: 'Prüfungen',
		instant_book: 'Sofort buchbar', insurance: 'Versicherung', issued: 'Ausgestellt', last_name: 'Nachname', lead_time_min_hours: 'Vorlauf in Stunden', lender: 'Kreditgeber', licence: 'Führerschein',
		licence_checked: 'Führerschein geprüft', licence_verification: 'Prüfung des Führerscheins', license_plate: 'Kennzeichen', lifecycle: 'Beziehung', line1: 'Straße', line2: 'Zusatz', locale: 'Sprache', located: 'Am Standort seit',
		make: 'Marke', marketing: 'Werbung', max_rental_days: 'Tage höchstens', merged_into: 'Zusammengeführt mit', metadata: 'Metadaten', method: 'Art', min_rental_days: 'Tage mindestens', model: 'Modell', monthly_payment: 'Monatsrate',
		moves: 'Bewegungen', nickname: 'Name', no_data_s: 'Schweigt seit', note: 'Notiz', notes: 'Notizen', number: 'Nummer', out_of_service: 'Außer Betrieb ab', overdue_noted: 'Überfällig seit', owner_customer: 'Halter',
		owner_share: 'Anteil des Halters', ownership: 'Besitz', pct: 'Stand', period: 'Zeitraum', phone: 'Telefon', photos: 'Fotos', pickup: 'Abholung', pickup_battery_level: 'Ladestand bei Abholung', pickup_charge_ids: 'Posten der Abholung',
		pickup_fuel: 'Tankstand bei Abholung', pickup_location: 'Abholort', pickup_meter: 'Kilometerstand bei Abholung', pickup_mileage: 'Kilometerstand bei Abholung', plate_country: 'Land des Kennzeichens',
		plate_region: 'Region des Kennzeichens', policy_number: 'Nummer der Police', possible_duplicate_of: 'Vielleicht dasselbe wie', postal_code: 'Postleitzahl', preferred_currency: 'Bevorzugte Währung', premium: 'Prämie',
		principal: 'Kreditsumme', promo_code: 'Aktionscode', protection_plan: 'Schutz', provider: 'Anbieter', provider_ref: 'Nummer beim Anbieter', quantity: 'Anzahl', quote: 'Angebot', rate_plan: 'Tarif', rate_snapshot: 'Vereinbarter Preis',
		reason: 'Grund', reason_code: 'Grund', region: 'Region', registration_expires: 'Zulassung bis', released: 'Freigegeben', residual_value: 'Restwert', return: 'Rückgabe', return_battery_level: 'Ladestand bei Rückgabe',
		return_charge_ids: 'Posten der Rückgabe', return_fuel: 'Tankstand bei Rückgabe', return_location: 'Rückgabeort', return_mileage: 'Kilometerstand bei Rückgabe', risk_level: 'Risiko', role: 'Rolle', seats: 'Sitze', set: 'Gesetzt',
		set_by: 'Gesetzt von', source: 'Herkunft', source_campaign: 'Kampagne', split_s: 'Teilt Fahrten nach', start_after_s: 'Beginnt nach', start_distance_m: 'Beginnt nach Strecke', start_speed_mph: 'Beginnt ab', status: 'Zustand',
		status_cause: 'Anlass des Zustands', status_reason: 'Grund des Zustands', status_since: 'Zustand seit', status_until: 'Zustand bis', stop_after_s: 'Endet nach', stop_speed_mph: 'Endet unter', tags: 'Schlagwörter', tax: 'Steuernummer',
		term_months: 'Laufzeit in Monaten', timezone: 'Zeitzone', transmission: 'Getriebe', trim: 'Ausstattung', trip_settings: 'Erkennung von Fahrten', type: 'Art', until: 'Bis', upgrade_from_class: 'Aufstieg von Klasse',
		use_ignition: 'Nach Zündung', useful_life_months: 'Nutzungsdauer in Monaten', vehicle: 'Fahrzeug', vehicle_class: 'Klasse', vehicle_history: 'Frühere Fahrzeuge', verified: 'Geprüft', verified_by: 'Geprüft von',
		vin: 'Fahrgestellnummer', warranty_ends: 'Garantie bis', year: 'Baujahr', active: 'Gesetzt', merging: 'Wird zusammengeführt', created_by_import: 'Aus einem Import', archived: 'Archiviert',
	},
	es: {
		acquired: 'Adquirido', acquisition_cost: 'Precio de compra', acquisition_mileage: 'Kilometraje al comprar', actual_pickup: 'Recogido', actual_return: 'Devuelto', address: 'Dirección',
		agreed_return_location: 'Lugar de devolución acordado', amount: 'Importe', applied: 'Aplicado', apr: 'Interés', assigned_to: 'Responsable', at: 'Hora', authorized: 'Retenido', backdated: 'Anotado después',
		battery_kwh: 'Batería (kWh)', battery_read: 'Carga', billed_days: 'Días cobrados', blocked_from: 'Bloqueado desde', blocked_until: 'Bloqueado hasta', body_type: 'Carrocería', buffer_after_minutes: 'Minutos libres después',
		buffer_before_minutes: 'Minutos libres antes', cancellation: 'Cancelación', cancelled: 'Cancelada', cancelled_by: 'Cancelada por', captured: 'Cobrado', category_ids: 'Categorías', changed: 'Cambiado', channel: 'Canal',
		channels: 'Canales', charges: 'Cargos', city: 'Ciudad', class: 'Clase', code: 'Código', color: 'Color', company_name: 'Empresa', confirmed: 'Confirmada', conflict: 'Se solapa', consents: 'Consentimientos',
		corrections: 'Correcciones', country: 'País', currency: 'Moneda', current_location: 'Sede actual', custom_fields: 'Campos propios', customer: 'Cliente', daily_rate: 'Precio por día', damages: 'Daños',
		date_of_birth: 'Fecha de nacimiento', default_deposit: 'Depósito habitual', default_discount: 'Descuento habitual', delivery_address: 'Dirección de entrega', deposit: 'Depósito', deposit_amount: 'Depósito',
		depreciation_method: 'Amortización', display_name: 'Nombre', disposal: 'Vendido', disposal_price: 'Precio de venta', distinct_from: 'Otra persona que', do_not_rent: 'No alquilar', do_not_rent_matches: 'En la lista de no alquilar',
		doors: 'Puertas', drivers: 'Conductores', drivetrain: 'Tracción', duplicate_of: 'Lo mismo que', elsewhere: 'De otra sede', elsewhere_fee: 'Tarifa de otra sede', email: 'Correo', erased: 'Borrado', erasing_since: 'Borrándose desde',
		erasure_reason: 'Motivo del borrado', expected: 'Distancia prevista', expected_life: 'Vida prevista', expires: 'Válido hasta', external_refs: 'Números ajenos', external_reservation: 'Número en el canal',
		extra_mile_fee: 'Precio de una milla extra', extras: 'Extras', fee: 'Tarifa', financing: 'Financiación', first_name: 'Nombre', first_payment: 'Primera cuota', fleet_number: 'Número de flota', from: 'Desde',
		fuel_capacity_gal: 'Depósito (galones)', fuel_read: 'Combustible', fuel_type: 'Propulsión', granted: 'Concedido', hold_expires: 'Retenida hasta', home_location: 'Sede habitual', imported_pickup: 'Recogida importada',
		imported_return: 'Devolución importada', in_service: 'En servicio desde', incidents_count: 'Incidentes', included_miles_per_day: 'Millas incluidas por día', inspection_expires: 'Inspección hasta', inspections: 'Inspecciones',
		instant_book: 'Reserva inmediata', insurance: 'Seguro', issued: 'Expedido', last_name: 'Apellidos', lead_time_min_hours: 'Antelación en horas', lender: 'Prestamista', licence: 'Permiso',
		licence_checked: 'Permiso comprobado', licence_verification: 'Comprobación del permiso', license_plate: 'Matrícula', lifecycle: 'Relación', line1: 'Calle', line2: 'Segunda línea', locale: 'Idioma', located: 'En la sede desde',
		make: 'Marca', marketing: 'Publicidad', max_rental_days: 'Días como máximo', merged_into: 'Unido a', metadata: 'Metadatos', method: 'Modo', min_rental_days: 'Días como mínimo', model: 'Modelo', monthly_payment: 'Cuota mensual',
		moves: 'Movimientos', nickname: 'Nombre', no_data_s: 'Callado desde hace', note: 'Nota', notes: 'Notas', number: 'Número', out_of_service: 'Fuera de servicio desde', overdue_noted: 'Con retraso desde', owner_customer: 'Propietario',
		owner_share: 'Parte del propietario', ownership: 'Propiedad', pct: 'Nivel', period: 'Periodo', phone: 'Teléfono', photos: 'Fotos', pickup: 'Recogida', pickup_battery_level: 'Carga en la recogida', pickup_charge_ids: 'Cargos de la recogida',
		pickup_fuel: 'Combustible en la recogida', pickup_location: 'Lugar de recogida', pickup_meter: 'Kilometraje en la recogida', pickup_mileage: 'Kilometraje en la recogida', plate_country: 'País de la matrícula',
		plate_region: 'Región de la matrícula', policy_number: 'Número de póliza', possible_duplicate_of: 'Quizás lo mismo que', postal_code: 'Código postal', preferred_currency: 'Moneda preferida', premium: 'Prima',
		principal: 'Capital', promo_code: 'Código promocional', protection_plan: 'Protección', provider: 'Proveedor', provider_ref: 'Número del proveedor', quantity: 'Cantidad', quote: 'Oferta', rate_plan: 'Tarifa', rate_snapshot: 'Precio acordado',
		reason: 'Motivo', reason_code: 'Motivo', region: 'Región', registration_expires: 'Matriculación hasta', released: 'Liberado', residual_value: 'Valor residual', return: 'Devolución', return_battery_level: 'Carga en la devolución',
		return_charge_ids: 'Cargos de la devolución', return_fuel: 'Combustible en la devolución', return_location: 'Lugar de devolución', return_mileage: 'Kilometraje en la devolución', risk_level: 'Riesgo', role: 'Papel', seats: 'Plazas', set: 'Puesto',
		set_by: 'Puesto por', source: 'Origen', source_campaign: 'Campaña', split_s: 'Separa viajes tras', start_after_s: 'Empieza tras', start_distance_m: 'Empieza tras una distancia de', start_speed_mph: 'Empieza desde', status: 'Estado',
		status_cause: 'Causa del estado', status_reason: 'Motivo del estado', status_since: 'Estado desde', status_until: 'Estado hasta', stop_after_s: 'Termina tras', stop_speed_mph: 'Termina bajo', tags: 'Etiquetas', tax: 'Número fiscal',
		term_months: 'Plazo en meses', timezone: 'Zona horaria', transmission: 'Cambio', trim: 'Acabado', trip_settings: 'Detección de viajes', type: 'Tipo', until: 'Hasta', upgrade_from_class: 'Mejora de la clase',
		use_ignition: 'Según el contacto', useful_life_months: 'Vida útil en meses', vehicle: 'Vehículo', vehicle_class: 'Clase', vehicle_history: 'Vehículos anteriores', verified: 'Comprobado', verified_by: 'Comprobado por',
		vin: 'Número de bastidor', warranty_ends: 'Garantía hasta', year: 'Año', active: 'Puesto', merging: 'Uniéndose', created_by_import: 'De una importación', archived: 'Archivado',
	},
};

const unit = /_(id|mi|pct|bp|at|on)$/;

/** What a member is called. */
function memberName(name: string): string {
	const bare = name.replace(unit, '');
	const own = called[settings.language];
	const known = [name, bare].find((one) => Object.hasOwn(own, one)); // people name members too, "constructor" among them
	return (known && own[known]) || words(bare);
}

/** What the member at a JSON pointer is called, within what it is a member of. */
function memberAt(pointer: string): string {
	const parts = pointer.split('/').slice(1).map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
	const [first = '', ...within] = parts;
	const own = ['metadata', 'custom_fields', 'channels'].includes(first); // these are named by people
	return [memberName(first), ...within.map((part) => (own ? part : memberName(part)))].join(' · ');
}

const choices = ['status', 'channel', 'type', 'severity', 'fuel_type', 'transmission', 'ownership', 'risk_level', 'lifecycle', 'method', 'source', 'role', 'cancelled_by', 'depreciation_method', 'period'];
const kinds = { veh: 'vehicles', cus: 'customers', bkg: 'bookings', loc: 'locations', vcl: 'vehicle_classes', usr: 'users', key: 'api_keys' } as const;
const longest = 240; // letters of a value that are shown

function isMoney(value: object): value is Money {
	return 'amount' in value && 'currency' in value && typeof value.amount === 'number' && typeof value.currency === 'string';
}

/** An item of a list, as short as people call it by. */
function itemText(item: unknown): string {
	if (item === null || typeof item !== 'object') return valueText('', item);
	const of = item as Record<string, unknown>;
	if ('unit_price' in of) return `${chargeWords(of as never)}: ${money(of['amount'] as Money)}`;
	if (typeof of['description'] === 'string' && of['description']) return of['description'];
	if (typeof of['reason'] === 'string' && of['reason']) return of['reason'];
	if (typeof of['vehicle_id'] === 'string') return valueText('', of['vehicle_id']);
	if (typeof of['type'] === 'string') return stateWords(of['type']);
	return valueText('', item);
}

/** A value of a member, as people read it. */
function valueText(name: string, value: unknown): string {
	if (value === null || value === undefined || value === '') return '–';
	if (typeof value === 'boolean') return say(value ? 'yes' : 'no');
	if (typeof value === 'number') {
		if (name.endsWith('_mi')) return distance(value);
		if (name.endsWith('_bp')) return percent(value / 100, 2);
		if (name === 'pct' || name.endsWith('_pct') || name.endsWith('battery_level')) return percent(value);
		return name === 'year' ? String(value) : decimal(value, Number.isInteger(value) ? 0 : 2);
	}
	if (typeof value === 'string') {
		const kind = /^(veh|cus|bkg|loc|vcl|usr|key)_\w+$/.exec(value)?.[1] as keyof typeof kinds | undefined;
		if (kind) return names.of(kinds[kind], value);
		if (/^\d{4}-\d\d-\d\dT/.test(value)) return dayAndClock(value);
		if (/^\d{4}-\d\d-\d\d$/.test(value)) return dayText(value);
		if (choices.includes(name)) return choiceWords(name, value);
		return value.length > longest ? `${value.slice(0, longest)}…` : value;
	}
	if (Array.isArray(value)) return value.length ? value.map(itemText).join(', ') : '–';
	if (isMoney(value)) return money(value);
	const text = Object.entries(value as object).filter(([, v]) => v !== null && v !== '').map(([n, v]) => `${memberName(n)}: ${valueText(n, v)}`).join(', ');
	return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

/** What became of a member: of a list what went and what came, of others what it was and is. */
export interface Change {
	at: string; // its JSON pointer
	called: string;
	went: string[];
	came: string[];
	untold: boolean; // it is personal or secret, so that a history has no values of it
}

const beside = ['/status_since', '/deposit/changed_at']; // change with another member, and say no more than when that was
const pages = ['rate_snapshot']; // would be a page

function isGiven(value: unknown): boolean {
	return value !== null && value !== undefined;
}

/** The currency of an amount that changed: of its own revision if that changed it too, else as the record has it now. */
function currencyAt(pointer: string, all: Schemas['FieldChange'][], record: unknown, was: boolean): string {
	const changed = all.find((c) => c.field === `${pointer}/currency`);
	if (changed) return String((was ? changed.old : changed.new) ?? '');
	let of: unknown = record;
	for (const part of pointer.split('/').slice(1)) of = (of as Record<string, unknown> | null | undefined)?.[part];
	return (of as Partial<Money> | null | undefined)?.currency ?? (record as Partial<Money> | null)?.currency ?? session.currency;
}

/** The items of a list that another one lacks; of two that are equal each counts. */
function missing(from: unknown, to: unknown): string[] {
	const left = ((to ?? []) as unknown[]).map((one) => JSON.stringify(one));
	return ((from ?? []) as unknown[]).filter((one) => {
		const at = left.indexOf(JSON.stringify(one));
		if (at >= 0) left.splice(at, 1);
		return at < 0;
	}).map(itemText);
}

/** What a revision changed, as people read it. */
export function changesOf(all: Schemas['FieldChange'][], record: unknown): Change[] {
	const told: Change[] = [];
	for (const { field: at, old, new: now } of all) {
		const [, first = ''] = at.split('/');
		if (beside.includes(at)) continue;
		if (pages.includes(first)) {
			if (!told.some((one) => one.at === `/${first}`)) told.push({ at: `/${first}`, called: memberAt(`/${first}`), went: [], came: [], untold: false });
			continue;
		}
		const base = { at, called: memberAt(at), untold: !isGiven(old) && !isGiven(now) };
		const name = at.split('/').pop() ?? '';
		if ([old, now].every((value) => !isGiven(value) || Array.isArray(value)) && !base.untold) {
			told.push({ ...base, went: missing(old, now), came: missing(now, old) });
		} else if (name === 'amount' && typeof (old ?? now) === 'number') { // of money
			const of = at.slice(0, -'/amount'.length);
			const text = (amount: unknown, was: boolean) => (isGiven(amount) ? [money({ amount: Number(amount), currency: currencyAt(of, all, record, was) })] : []);
			told.push({ ...base, called: memberAt(of), went: text(old, true), came: text(now, false) });
		} else told.push({ ...base, went: isGiven(old) ? [valueText(name, old)] : [], came: isGiven(now) ? [valueText(name, now)] : [] });
	}
	return told;
}
