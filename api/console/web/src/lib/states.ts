import { words } from './format';
import { settings } from './settings.svelte';
import { office } from './states.office';
import { alertStates } from './states.alerts';
import { auditStates } from './states.audit';
import type { Language } from './texts';

// The words for states and kinds of the interface. Its lists are open: one that is not here is shown by its identifier.

const states: Record<Language, Record<string, string>> = {
	en: { ...office.en, ...alertStates.en, in_progress: 'In progress', on_hold: 'On hold', no_show: 'No-show', hold: 'Held', in: 'In', out: 'Out',
		license_front: 'Licence, front', license_back: 'Licence, back', 'document:id': 'ID',
	},
	de: {
		...office.de,
		...alertStates.de,
		...auditStates.de,
		pending: 'Vorgemerkt', confirmed: 'Bestätigt', active: 'Unterwegs', completed: 'Abgeschlossen', cancelled: 'Storniert',
		no_show: 'Nicht erschienen', expired: 'Abgelaufen', available: 'Verfügbar', rented: 'Vermietet', turnaround: 'In Aufbereitung',
		maintenance: 'In Wartung', out_of_service: 'Außer Betrieb', inactive: 'Inaktiv', retired: 'Ausgemustert',
		unpaid: 'Unbezahlt', partially_paid: 'Teilweise bezahlt', paid: 'Bezahlt', overpaid: 'Überzahlt', refunded: 'Erstattet',
		nothing_due: 'Nichts fällig', none: 'Keine', required: 'Erforderlich', authorized: 'Reserviert', captured: 'Eingezogen',
		released: 'Freigegeben', applied: 'Verrechnet', upcoming: 'Kommt', due_soon: 'Bald fällig', due: 'Fällig', overdue: 'Überfällig',
		resolved: 'Erledigt', dismissed: 'Verworfen', draft: 'Entwurf', scheduled: 'Geplant', in_progress: 'In Arbeit', on_hold: 'Wartet',
		reported: 'Gemeldet', assessed: 'Bewertet', charged: 'Berechnet', waived: 'Erlassen', repaired: 'Repariert', closed: 'Geschlossen',
		do_not_rent: 'Nicht vermieten', normal: 'Normal', watch: 'Beobachten', blocked: 'Gesperrt', succeeded: 'Eingegangen',
		failed: 'Fehlgeschlagen', unverified: 'Ungeprüft', verified: 'Geprüft', rejected: 'Abgelehnt', issued: 'Ausgestellt',
		signed: 'Unterschrieben', open: 'Offen', void: 'Ungültig', cosmetic: 'Kosmetisch', minor: 'Gering', major: 'Erheblich',
		unroadworthy: 'Nicht fahrbereit', card: 'Karte', cash: 'Bar', bank_transfer: 'Überweisung', check: 'Scheck', wallet: 'Wallet',
		platform: 'Plattform', other: 'Sonstiges', time: 'Miete', tax: 'Steuer', mileage: 'Mehrkilometer', damage: 'Schaden',
		refuel: 'Tanken', recharge: 'Laden', late_return: 'Späte Rückgabe', cleaning: 'Reinigung', fine: 'Bußgeld', toll: 'Maut',
		discount: 'Rabatt', extra: 'Extra', protection: 'Schutz', cancellation_fee: 'Stornogebühr', person: 'Person', company: 'Firma',
		preventive: 'Vorbeugend', corrective: 'Reparatur', recall: 'Rückruf', inspection: 'Prüfung', tire: 'Reifen', low: 'Niedrig',
		high: 'Hoch', urgent: 'Dringend', direct: 'Direkt', phone: 'Telefon', website: 'Website', gasoline: 'Benzin', diesel: 'Diesel',
		hybrid: 'Hybrid', plug_in_hybrid: 'Plug-in-Hybrid', electric: 'Elektrisch', hydrogen: 'Wasserstoff', automatic: 'Automatik',
		manual: 'Schaltung', owned: 'Eigentum', leased: 'Geleast', financed: 'Finanziert', customer: 'Kunde', host: 'Vermieter',
		operator: 'Betrieb', insurance: 'Versicherung', registration: 'Zulassung', warranty: 'Garantie', booking: 'Buchung',
		block: 'Sperre', work_order: 'Arbeitsauftrag', awaiting_parts: 'Wartet auf Teile', awaiting_vendor: 'Wartet auf Werkstatt',
		labor: 'Arbeit', part: 'Teil', fee: 'Gebühr', repair: 'Reparatur', owner_use: 'Eigennutzung', missing: 'Vermisst',
		odometer: 'Kilometerstand', odometer_mi: 'Kilometerstand', engine_hours: 'Betriebsstunden', conflict: 'Konflikt',
		licence_expired: 'Führerschein abgelaufen', risk_blocked: 'Gesperrt', licence_rejected: 'Führerschein abgelehnt',
		delivery: 'Zustellung', one_way: 'Rückgabe anderswo', young_driver: 'Junger Fahrer', additional_driver: 'Weiterer Fahrer', smoking: 'Rauchen',
		impound: 'Abschleppen', promo: 'Aktionsrabatt', adjustment: 'Anpassung', partially_refunded: 'Teilweise erstattet', transport: 'Transport',
		revenue: 'Umsatz', license_front: 'Führerschein, vorn', license_back: 'Führerschein, hinten', agreement: 'Vertrag', 'document:id': 'Ausweis', variable_cost: 'Variable Kosten', fixed_cost: 'Fixe Kosten', contribution: 'Deckungsbeitrag', net_profit: 'Gewinn',
	},
	es: {
		...office.es,
		...alertStates.es,
		...auditStates.es,
		pending: 'Pendiente', confirmed: 'Confirmada', active: 'En curso', completed: 'Terminada', cancelled: 'Cancelada',
		no_show: 'No se presentó', expired: 'Caducada', available: 'Disponible', rented: 'Alquilado', turnaround: 'En preparación',
		maintenance: 'En mantenimiento', out_of_service: 'Fuera de servicio', inactive: 'Inactivo', retired: 'Retirado',
		unpaid: 'Sin pagar', partially_paid: 'Pagado en parte', paid: 'Pagado', overpaid: 'Pagado de más', refunded: 'Reembolsado',
		nothing_due: 'Nada pendiente', none: 'Ninguno', required: 'Requerido', authorized: 'Autorizado', captured: 'Cobrado',
		released: 'Liberado', applied: 'Aplicado', upcoming: 'Próximo', due_soon: 'Vence pronto', due: 'Vence', overdue: 'Vencido',
		resolved: 'Resuelto', dismissed: 'Descartado', draft: 'Borrador', scheduled: 'Programada', in_progress: 'En trabajo', on_hold: 'En espera',
		reported: 'Notificado', assessed: 'Evaluado', charged: 'Cobrado', waived: 'Perdonado', repaired: 'Reparado', closed: 'Cerrado',
		do_not_rent: 'No alquilar', normal: 'Normal', watch: 'Vigilar', blocked: 'Bloqueado', succeeded: 'Recibido',
		failed: 'Fallido', unverified: 'Sin verificar', verified: 'Verificado', rejected: 'Rechazado', issued: 'Emitido',
		signed: 'Firmado', open: 'Abierto', void: 'Anulado', cosmetic: 'Estético', minor: 'Leve', major: 'Grave',
		unroadworthy: 'No puede circular', card: 'Tarjeta', cash: 'Efectivo', bank_transfer: 'Transferencia', check: 'Cheque', wallet: 'Monedero',
		platform: 'Plataforma', other: 'Otro', time: 'Alquiler', tax: 'Impuesto', mileage: 'Distancia extra', damage: 'Daño',
		refuel: 'Repostaje', recharge: 'Recarga', late_return: 'Devolución tardía', cleaning: 'Limpieza', fine: 'Multa', toll: 'Peaje',
		discount: 'Descuento', extra: 'Extra', protection: 'Protección', cancellation_fee: 'Gasto de cancelación', person: 'Persona', company: 'Empresa',
		preventive: 'Preventivo', corrective: 'Correctivo', recall: 'Llamada a revisión', inspection: 'Inspección', tire: 'Neumático', low: 'Baja',
		high: 'Alta', urgent: 'Urgente', direct: 'Directo', phone: 'Teléfono', website: 'Web', gasoline: 'Gasolina', diesel: 'Diésel',
		hybrid: 'Híbrido', plug_in_hybrid: 'Híbrido enchufable', electric: 'Eléctrico', hydrogen: 'Hidrógeno', automatic: 'Automático',
		manual: 'Manual', owned: 'Propio', leased: 'Leasing', financed: 'Financiado', customer: 'Cliente', host: 'Propietario',
		operator: 'Empresa', insurance: 'Seguro', registration: 'Matriculación', warranty: 'Garantía', booking: 'Reserva',
		block: 'Bloqueo', work_order: 'Orden de trabajo', awaiting_parts: 'Espera piezas', awaiting_vendor: 'Espera al taller',
		labor: 'Mano de obra', part: 'Pieza', fee: 'Tasa', repair: 'Reparación', owner_use: 'Uso propio', missing: 'Desaparecido',
		odometer: 'Cuentakilómetros', odometer_mi: 'Cuentakilómetros', engine_hours: 'Horas de motor', conflict: 'Conflicto',
		licence_expired: 'Permiso caducado', risk_blocked: 'Bloqueado', licence_rejected: 'Permiso rechazado',
		delivery: 'Entrega', one_way: 'Devolución en otro lugar', young_driver: 'Conductor joven', additional_driver: 'Conductor adicional', smoking: 'Tabaco',
		impound: 'Grúa', promo: 'Promoción', adjustment: 'Ajuste', partially_refunded: 'Reembolsado en parte', transport: 'Transporte',
		revenue: 'Ingresos', license_front: 'Permiso, anverso', license_back: 'Permiso, reverso', agreement: 'Contrato', 'document:id': 'Identificación', variable_cost: 'Costes variables', fixed_cost: 'Costes fijos', contribution: 'Margen de contribución', net_profit: 'Beneficio',
	},
};

/** The words for a state or kind. */
export function stateWords(of: string | null | undefined): string {
	const known = states[settings.language];
	return of ? ((Object.hasOwn(known, of) && known[of]) || words(of)) : '–'; // people name some of them, "constructor" among them
}

/** The words for what a member has, where another member has another thing by that name. */
export function choiceWords(member: string, of: string | null | undefined): string {
	return states[settings.language][`${member}:${of}`] ?? stateWords(of);
}

/** What an entry of the ledger is for: a sort of charge, with the name of a tax behind it. */
export function purposeWords(purpose: string): string {
	const [sort = '', ...name] = purpose.split(', ');
	const known = states[settings.language][sort.replaceAll(' ', '_')] ?? sort;
	return [known, ...name].join(', ');
}
