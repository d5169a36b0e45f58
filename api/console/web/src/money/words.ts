import { words } from '../lib/format';
import { settings } from '../lib/settings.svelte';

// The words for reports, their figures and groups, in German and Spanish; in English their names say it. What a figure
// means is told by the interface, and said in lib/texts.figures.ts.

type Words = Record<string, [en: string, de: string, es: string]>;
type Pair = Record<string, [de: string, es: string]>;

const reports: Pair = {
	alerts: ['Alarme', 'Alertas'], balance_sheet: ['Bilanz', 'Balance'], bookings: ['Buchungen', 'Reservas'],
	cost_per_mile: ['Kosten je Strecke', 'Coste por distancia'], customer_cohorts: ['Kundenkohorten', 'Cohortes de clientes'],
	customers: ['Kunden', 'Clientes'], damage_recovery: ['Schadenersatz', 'Recuperación de daños'], deposits_held: ['Kautionen', 'Depósitos retenidos'],
	depreciation: ['Abschreibung', 'Amortización'], distance: ['Strecke', 'Distancia'], driver_score: ['Fahrverhalten', 'Puntuación de conducción'],
	energy: ['Energie', 'Energía'], fleet_roi: ['Rendite der Flotte', 'Rentabilidad de la flota'], geofence_time: ['Zeit in Geozonen', 'Tiempo en geocercas'],
	idling: ['Leerlauf', 'Ralentí'], maintenance_costs: ['Wartungskosten', 'Costes de mantenimiento'], occupancy_calendar: ['Belegungskalender', 'Calendario de ocupación'],
	pace: ['Buchungsstand', 'Ritmo de reservas'], pickups: ['Abholungen', 'Recogidas'], profit_and_loss: ['Gewinn und Verlust', 'Pérdidas y ganancias'],
	profitability: ['Ertrag', 'Rentabilidad'], quotes: ['Angebote', 'Presupuestos'], receivables_ageing: ['Offene Posten', 'Antigüedad de saldos'],
	rental_economics: ['Mietrechnung', 'Economía del alquiler'], revenue: ['Umsatz', 'Ingresos'], revenue_bridge: ['Umsatzveränderung', 'Puente de ingresos'],
	take_rate: ['Anteil der Kanäle', 'Comisión de canales'], tax_summary: ['Steuern', 'Impuestos'], trips: ['Fahrten', 'Viajes'],
	turnaround: ['Aufbereitung', 'Preparación'], utilization: ['Auslastung', 'Utilización'],
};

const groups: Words = {
	total: ['Total', 'Gesamt', 'Total'], day: ['Day', 'Tag', 'Día'], week: ['Week', 'Woche', 'Semana'], month: ['Month', 'Monat', 'Mes'],
	quarter: ['Quarter', 'Quartal', 'Trimestre'], year: ['Year', 'Jahr', 'Año'], vehicle: ['Vehicle', 'Fahrzeug', 'Vehículo'],
	make: ['Make', 'Marke', 'Marca'], model: ['Model', 'Modell', 'Modelo'], class: ['Class', 'Klasse', 'Clase'],
	location: ['Location', 'Standort', 'Sede'], channel: ['Channel', 'Kanal', 'Canal'], customer: ['Customer', 'Kunde', 'Cliente'],
	owner: ['Owner', 'Halter', 'Propietario'], tag: ['Tag', 'Schlagwort', 'Etiqueta'], account: ['Ledger account', 'Konto', 'Cuenta'],
	booking: ['Booking', 'Buchung', 'Reserva'], category: ['Kind', 'Art', 'Tipo'], jurisdiction: ['Place and tax', 'Ort und Steuer', 'Lugar e impuesto'],
	geofence: ['Geofence', 'Geozone', 'Geocerca'], calendar: ['Vehicle and day', 'Fahrzeug und Tag', 'Vehículo y día'],
};

// What an expense is of: what somebody writes by hand, and what follows from vehicles, owners and bookings.
const costs: Words = {
	fuel: ['Fuel', 'Kraftstoff', 'Combustible'], charging: ['Charging', 'Laden', 'Recarga'], maintenance: ['Maintenance', 'Wartung', 'Mantenimiento'],
	repair: ['Repair', 'Reparatur', 'Reparación'], tires: ['Tires', 'Reifen', 'Neumáticos'], cleaning: ['Cleaning', 'Reinigung', 'Limpieza'],
	insurance: ['Insurance', 'Versicherung', 'Seguro'], registration: ['Registration', 'Zulassung', 'Matriculación'], tax: ['Vehicle tax', 'Fahrzeugsteuer', 'Impuesto de vehículos'],
	parking: ['Parking', 'Parken', 'Aparcamiento'], toll: ['Toll', 'Maut', 'Peaje'], fine: ['Fine', 'Bußgeld', 'Multa'], telematics: ['Telematics', 'Telematik', 'Telemática'],
	lease: ['Lease', 'Leasing', 'Leasing'], loan_interest: ['Loan interest', 'Kreditzinsen', 'Intereses de préstamo'], platform_fee: ['Platform fee', 'Plattformgebühr', 'Comisión de plataforma'],
	payment_fee: ['Payment fee', 'Zahlungsgebühr', 'Comisión de cobro'], marketing: ['Marketing', 'Werbung', 'Publicidad'], salary: ['Salaries', 'Gehälter', 'Salarios'], other: ['Other', 'Sonstiges', 'Otro'],
};
const otherCosts: Words = {
	depreciation: ['Depreciation', 'Abschreibung', 'Amortización'], bad_debt: ['Bad debt', 'Forderungsausfall', 'Deuda incobrable'], sales_tax: ['Sales tax paid over', 'Abgeführte Steuer', 'Impuesto ingresado'],
	vehicle_purchase: ['Vehicle purchase', 'Fahrzeugkauf', 'Compra de vehículo'], vehicle_sale: ['Vehicle sale', 'Fahrzeugverkauf', 'Venta de vehículo'], loan_principal: ['Loan repayment', 'Tilgung', 'Devolución de préstamo'],
	owner_share: ['Share of the owner', 'Anteil des Halters', 'Parte del propietario'], owner_payout: ['Payout to the owner', 'Auszahlung an den Halter', 'Pago al propietario'],
};

/** The categories of expenses that somebody writes by hand. */
export const costCategories = Object.keys(costs);

export function categoryName(name: string): string {
	return among({ ...costs, ...otherCosts }, name) ?? words(name);
}

const short: Words = {
	adr: ['Average daily rate', 'Tagespreis im Mittel', 'Tarifa media por día'], adr_total: ['Average revenue of a day', 'Umsatz je Tag', 'Ingreso medio por día'],
	days_1_30: ['1–30 days', '1–30 Tage', '1–30 días'], days_31_60: ['31–60 days', '31–60 Tage', '31–60 días'], days_61_90: ['61–90 days', '61–90 Tage', '61–90 días'],
	days_over_90: ['Over 90 days', 'Über 90 Tage', 'Más de 90 días'], not_due: ['Billed today', 'Heute berechnet', 'Facturado hoy'],
	roi: ['Return', 'Rendite', 'Rentabilidad'], annual_roi: ['Return a year', 'Rendite im Jahr', 'Rentabilidad anual'],
};

const figures: Pair = {
	accepted: ['Angenommen', 'Aceptados'], accumulated: ['Bisher abgeschrieben', 'Amortizado hasta ahora'], acceleration: ['Starkes Beschleunigen', 'Aceleraciones bruscas'],
	acknowledged: ['Bestätigt', 'Confirmadas'], acknowledged_share: ['Anteil bestätigt', 'Parte confirmada'], acquisition_12: ['Anschaffungen, 12 Monate', 'Compras, 12 meses'],
	acquisition_cost: ['Anschaffungskosten', 'Coste de compra'], alerted_vehicles: ['Fahrzeuge mit Alarm', 'Vehículos con alerta'], amount: ['Betrag', 'Importe'],
	average_fleet: ['Flotte im Mittel', 'Flota media'], balance: ['Saldo', 'Saldo'], billed: ['Berechnet', 'Facturado'], billed_days: ['Berechnete Tage', 'Días facturados'],
	billed_utilization: ['Auslastung nach Tagen', 'Utilización facturada'], blocked: ['Gesperrt', 'Bloqueados'], book_value: ['Buchwert', 'Valor contable'],
	booked: ['Gebucht', 'Reservados'], booked_cost: ['Gebuchte Kosten', 'Coste contabilizado'], booking: ['Buchung', 'Reserva'], bookings: ['Buchungen', 'Reservas'],
	braking: ['Starkes Bremsen', 'Frenazos'], break_even_utilization: ['Auslastung ohne Verlust', 'Utilización de equilibrio'], burning: ['Motor verbraucht', 'Motor en consumo'],
	cancellation_rate: ['Stornoquote', 'Tasa de cancelación'], cancellation_value_rate: ['Stornoquote nach Wert', 'Cancelación por valor'], cancelled: ['Storniert', 'Canceladas'],
	cancelled_by_customer: ['Vom Kunden storniert', 'Canceladas por el cliente'], cancelled_by_host: ['Vom Halter storniert', 'Canceladas por el propietario'],
	cancelled_by_operator: ['Vom Betrieb storniert', 'Canceladas por la empresa'], cancelled_by_system: ['Vom System storniert', 'Canceladas por el sistema'],
	cancelled_value: ['Stornierter Wert', 'Valor cancelado'], capital: ['Kapital', 'Capital'], capital_12: ['Kapital, 12 Monate', 'Capital, 12 meses'], change: ['Veränderung', 'Variación'],
	charged: ['Berechnet', 'Cobrado'], charging: ['Am Ladepunkt', 'Cargando'], charges: ['Ladevorgänge', 'Cargas'], compared_gps: ['Verglichen', 'Comparado'], confirmed: ['Bestätigt', 'Confirmados'],
	confirmed_value: ['Bestätigter Wert', 'Valor confirmado'], contribution: ['Deckungsbeitrag', 'Margen de contribución'], contribution_margin: ['Deckungsbeitragsquote', 'Margen de contribución'],
	contribution_per_hour: ['Deckungsbeitrag je Stunde', 'Contribución por hora'], contribution_per: ['Deckungsbeitrag je Strecke', 'Contribución por distancia'],
	contribution_per_rented_day: ['Deckungsbeitrag je Tag', 'Contribución por día'], conversion: ['Angebote zu Buchungen', 'Conversión'], cornering: ['Scharfe Kurven', 'Curvas bruscas'],
	count: ['Anzahl', 'Número'], crashes: ['Unfälle', 'Choques'], critical: ['Kritisch', 'Críticas'], current_value: ['Heutiger Wert', 'Valor actual'],
	customer_cancellation_rate: ['Storno durch Kunden', 'Cancelación por clientes'], customer_rentals: ['Mieten je Kunde', 'Alquileres por cliente'], customers: ['Kunden', 'Clientes'],
	damage_recovery: ['Schadenersatzquote', 'Recuperación de daños'],
	 days_final_last_year: ['Tage, Vorjahr am Ende', 'Días finales, año anterior'], days_last_year: ['Tage, Vorjahr', 'Días, año anterior'],
	days_on_books: ['Gebuchte Tage', 'Días reservados'], depreciated: ['Abgeschrieben', 'Amortizado'], depreciation: ['Abschreibung', 'Amortización'], discounts: ['Rabatte', 'Descuentos'],
	dollar_utilization: ['Umsatz je Anschaffung', 'Ingresos por inversión'], down: ['Ausfallzeit', 'Fuera de uso'], downtime: ['Ausfallquote', 'Tiempo fuera de uso'], driven: ['Gefahren', 'Recorrido'],
	driven_days: ['Tage mit Fahrt', 'Días con viaje'], duration: ['Dauer', 'Duración'], electric: ['Elektrisch gefahren', 'En eléctrico'], energy: ['Energie', 'Energía'], energy_cost: ['Energiekosten', 'Coste de energía'],
	energy_cost_per: ['Energiekosten je Strecke', 'Energía por distancia'], energy_per: ['Energie je Strecke', 'Energía por distancia'], engine: ['Motor an', 'Motor encendido'], entries: ['Buchungssätze', 'Asientos'],
	estimated: ['Geschätzt', 'Estimado'], estimated_share: ['Geschätzt', 'Estimado'], expected: ['Erwartet', 'Esperadas'], expired: ['Abgelaufen', 'Caducados'], finance: ['Finanzierung', 'Financiación'],
	first_billed: ['Zuerst berechnet', 'Primera factura'], fixed_cost: ['Fixe Kosten', 'Costes fijos'], fleet: ['Zeit in der Flotte', 'Tiempo en flota'], fleet_size_effect: ['Wegen Flottengröße', 'Por tamaño de flota'],
	fleet_utilization: ['Auslastung der Flotte', 'Utilización de la flota'], free: ['Frei', 'Libres'], from_channels: ['Von Kanälen', 'De canales'], from_customers: ['Von Kunden', 'De clientes'], fuel: ['Kraftstoff', 'Combustible'],
	fuelled: ['Mit Kraftstoff', 'Con combustible'], gain: ['Gewinn', 'Ganancia'], gap: ['Zeit bis zur nächsten', 'Espera'], gap_mean: ['Pause im Mittel', 'Espera media'], gap_median: ['Pause, Median', 'Espera mediana'],
	gap_p90: ['Pause, 90 %', 'Espera, 90 %'], given: ['Zurückgegeben', 'Devuelto'], gps: ['Nach GPS', 'Según GPS'], gps_share: ['GPS zu Zähler', 'GPS sobre contador'], gross: ['Brutto', 'Bruto'], harsh: ['Hartes Fahren', 'Maniobras bruscas'],
	harsh_per_100: ['Hartes Fahren je 100', 'Bruscas por 100'], held: ['Gehalten', 'Retenido'], host_cancellation_rate: ['Storno durch Halter', 'Cancelación por propietarios'], idle: ['Ungenutzt', 'Sin uso'], idle_fuel: ['Leerlaufkosten', 'Coste de ralentí'],
	idle_share: ['Leerlaufanteil', 'Parte en ralentí'], infos: ['Hinweise', 'Avisos'], input_tax: ['Vorsteuer', 'Impuesto soportado'], inside: ['Innerhalb', 'Dentro'], insurance: ['Versicherung', 'Seguro'], known_tax: ['Bekannte Steuer', 'Impuesto conocido'],
	lapsed: ['Verfallen', 'Vencidas'], lasted: ['Dauer', 'Duración'], lead: ['Vorlauf', 'Antelación'], lead_0_days: ['Vorlauf 0 Tage', 'Antelación 0 días'], lead_1_2_days: ['Vorlauf 1–2 Tage', 'Antelación 1–2 días'], lead_3_6_days: ['Vorlauf 3–6 Tage', 'Antelación 3–6 días'],
	lead_7_13_days: ['Vorlauf 7–13 Tage', 'Antelación 7–13 días'], lead_14_29_days: ['Vorlauf 14–29 Tage', 'Antelación 14–29 días'], lead_30_89_days: ['Vorlauf 30–89 Tage', 'Antelación 30–89 días'], lead_90_days: ['Vorlauf ab 90 Tagen', 'Antelación desde 90 días'],
	lead_mean_days: ['Vorlauf im Mittel', 'Antelación media'], lead_median_days: ['Vorlauf, Median', 'Antelación mediana'], lead_p90_days: ['Vorlauf, 90 %', 'Antelación, 90 %'], led: ['Mit Vorlauf', 'Con antelación'], length_1_day: ['1 Tag', '1 día'],
	length_2_3_days: ['2–3 Tage', '2–3 días'], length_4_6_days: ['4–6 Tage', '4–6 días'], length_7_13_days: ['7–13 Tage', '7–13 días'], length_14_29_days: ['14–29 Tage', '14–29 días'], length_30_days: ['Ab 30 Tagen', 'Desde 30 días'],
	length_mean_days: ['Länge im Mittel', 'Duración media'], length_median_days: ['Länge, Median', 'Duración mediana'], lifetime_net: ['Netto bisher', 'Neto total'], lifetime_value: ['Kundenwert', 'Valor del cliente'], made: ['Gemacht', 'Hechas'], maintenance: ['Wartung', 'Mantenimiento'],
	maintenance_per: ['Wartung je Strecke', 'Mantenimiento por distancia'], maintenance_ratio: ['Wartung am Umsatz', 'Mantenimiento sobre ingresos'], max_speed: ['Höchste Geschwindigkeit', 'Velocidad máxima'], mean: ['Im Mittel', 'Media'], mean_day: ['Je Tag', 'Por día'],
	mean_speed: ['Geschwindigkeit im Mittel', 'Velocidad media'], mean_trip: ['Je Fahrt', 'Por viaje'], mean_visit: ['Je Besuch', 'Por visita'], missing: ['Fehlend', 'Faltante'], movement: ['Bewegung', 'Movimiento'], moving: ['In Fahrt', 'En marcha'], net_cash: ['Geldfluss', 'Flujo neto'],
	net_margin: ['Umsatzrendite', 'Margen neto'], net_profit: ['Gewinn', 'Beneficio'], net_profit_per_rented_day: ['Gewinn je Tag', 'Beneficio por día'], new_customers: ['Neue Kunden', 'Clientes nuevos'], no_show_rate: ['Nicht erschienen', 'Tasa de ausencias'], no_shows: ['Nicht erschienen', 'Ausencias'],
	occupancy: ['Belegung', 'Ocupación'], occupied: ['Belegt', 'Ocupados'], odometer: ['Nach Zähler', 'Según contador'], opening: ['Anfang', 'Inicial'], other_fixed: ['Sonstige fixe', 'Otros fijos'], other_variable: ['Sonstige variable', 'Otros variables'],
	outside: ['Außerhalb von Mieten', 'Fuera de alquiler'], outside_share: ['Außerhalb von Mieten', 'Fuera de alquiler'], over: ['Mehrstrecke', 'Exceso'], overpaid: ['Zu viel bezahlt', 'Pagado de más'], owed: ['Geschuldet', 'Adeudado'], pace: ['Zum Vorjahr', 'Frente al año anterior'], paid: ['Bezahlt', 'Pagado'],
	payback_forecast: ['Amortisation erwartet', 'Recuperación prevista'], payback_month: ['Amortisiert im', 'Recuperado en'], payback_months: ['Amortisiert nach', 'Recuperado tras'], paying_customers: ['Zahlende Kunden', 'Clientes que pagan'], pending: ['Offen', 'Pendientes'], per_unit_month: ['Je Fahrzeug und Monat', 'Por vehículo y mes'],
	planned: ['Geplant', 'Previstas'], planned_share: ['Geplanter Anteil', 'Parte planificada'], platform_fees: ['Anteil der Kanäle', 'Comisión de canales'], priced_days: ['Tage mit Preis', 'Días con precio'], priced_days_last_year: ['Tage mit Preis, Vorjahr', 'Días con precio, año anterior'], profit_12: ['Gewinn, 12 Monate', 'Beneficio, 12 meses'],
	quotes: ['Angebote', 'Presupuestos'], rate: ['Satz', 'Tipo'], rate_before_per_hour: ['Preis je Stunde vorher', 'Tarifa por hora antes'], rate_effect: ['Wegen Preis', 'Por tarifa'], rate_last_year: ['Tagespreis, Vorjahr', 'Tarifa, año anterior'], rate_on_books: ['Tagespreis gebucht', 'Tarifa reservada'], rate_per_hour: ['Preis je Stunde', 'Tarifa por hora'],
	readied: ['Aufbereitet', 'Preparados'], ready: ['Aufbereitung', 'Preparación'], ready_mean: ['Aufbereitung im Mittel', 'Preparación media'], ready_median: ['Aufbereitung, Median', 'Preparación mediana'], ready_p90: ['Aufbereitung, 90 %', 'Preparación, 90 %'], recent_cash: ['Geldfluss zuletzt', 'Flujo reciente'], recovered: ['Ersetzt', 'Recuperado'],
	refunds: ['Rückzahlungen', 'Reembolsos'], remaining: ['Noch offen', 'Restante'], rentable: ['Vermietbar', 'Alquilable'], rentable_before: ['Vermietbar vorher', 'Alquilable antes'], rental: ['Strecke je Miete', 'Distancia por alquiler'], rental_margin: ['Spielraum', 'Margen de alquiler'], rentals: ['Mieten', 'Alquileres'], rented: ['Vermietet', 'Alquilado'],
	rented_before: ['Vermietet vorher', 'Alquilado antes'], rented_share: ['In Mieten', 'En alquiler'], repair: ['Reparatur', 'Reparación'], repair_cost: ['Reparaturkosten', 'Coste de reparación'], repeat_customers: ['Wiederkehrende', 'Clientes recurrentes'], repeat_rate: ['Wiederkehrquote', 'Tasa de repetición'], repicked: ['Wieder vermietet', 'Alquilados de nuevo'],
	returning_customers: ['Stammkunden', 'Clientes que vuelven'], returning_rentals: ['Mieten von Stammkunden', 'Alquileres de clientes que vuelven'], returning_share: ['Anteil Stammkunden', 'Parte de clientes que vuelven'], returns: ['Rückgaben', 'Devoluciones'], revenue: ['Umsatz', 'Ingresos'], revenue_12: ['Umsatz, 12 Monate', 'Ingresos, 12 meses'], revenue_before: ['Umsatz vorher', 'Ingresos antes'],
	revenue_damage: ['Schäden', 'Daños'], revenue_extras: ['Extras', 'Extras'], revenue_fees: ['Gebühren', 'Tasas'], revenue_final_last_year: ['Umsatz, Vorjahr am Ende', 'Ingresos finales, año anterior'], revenue_last_year: ['Umsatz, Vorjahr', 'Ingresos, año anterior'], revenue_mileage: ['Mehrstrecke', 'Distancia extra'], revenue_on_books: ['Gebuchter Umsatz', 'Ingresos reservados'],
	revenue_pace: ['Umsatz zum Vorjahr', 'Ingresos frente al año anterior'], revenue_per: ['Umsatz je Strecke', 'Ingresos por distancia'], revenue_per_hour: ['Umsatz je Stunde', 'Ingresos por hora'], revenue_protection: ['Schutz', 'Protección'], revenue_time: ['Miete', 'Alquiler'], running_cost_per: ['Laufende Kosten je Strecke', 'Coste corriente por distancia'], score: ['Punkte', 'Puntos'],
	scored: ['Bewertete Strecke', 'Distancia evaluada'], sold_for: ['Verkauft für', 'Vendido por'], speeding: ['Zu schnell', 'Exceso de velocidad'], speeding_share: ['Zu schnell', 'Exceso de velocidad'], state: ['Zustand', 'Estado'], still_open: ['Noch offen', 'Aún abiertas'], stop_idle: ['Leerlauf im Stand', 'Ralentí parado'], take_rate: ['Anteil der Kanäle', 'Comisión'],
	taken: ['Genommen', 'Tomado'], taken_back: ['Zurückgenommen', 'Anulado'], tax: ['Steuer', 'Impuesto'], taxable: ['Steuerpflichtig', 'Base imponible'], time_and_mileage: ['Miete und Strecke', 'Tiempo y distancia'], tires: ['Reifen', 'Neumáticos'], to_come: ['Noch offen', 'Por venir'], toll_recharge: ['Weitergegebene Maut', 'Peajes repercutidos'], total: ['Summe', 'Total'],
	total_cost: ['Gesamtkosten', 'Coste total'], total_cost_per: ['Gesamtkosten je Strecke', 'Coste total por distancia'], trip_idle: ['Leerlauf in Fahrten', 'Ralentí en viajes'], trips: ['Fahrten', 'Viajes'], unbilled: ['Nicht berechnet', 'Sin facturar'], unbilled_charging: ['Laden nicht berechnet', 'Carga sin facturar'], unbilled_fuel: ['Tanken nicht berechnet', 'Combustible sin facturar'],
	unbilled_mileage: ['Strecke nicht berechnet', 'Distancia sin facturar'], unmetered_charges: ['Ohne Messung', 'Cargas sin medir'], unrecorded: ['Nicht aufgezeichnet', 'Sin registrar'], unrecorded_trips: ['Nicht aufgezeichnete Fahrten', 'Viajes sin registrar'], unrecovered: ['Nicht ersetzt', 'Sin recuperar'], utilization: ['Auslastung', 'Utilización'], utilization_before: ['Auslastung vorher', 'Utilización antes'],
	utilization_effect: ['Wegen Auslastung', 'Por utilización'], value: ['Wert', 'Valor'], value_conversion: ['Angebote zu Buchungen, Wert', 'Conversión por valor'], variable_cost: ['Variable Kosten', 'Costes variables'], vehicle_days: ['Fahrzeugtage', 'Días de vehículo'], visit: ['Dauer der Besuche', 'Duración de visitas'], visitors: ['Besucher', 'Visitantes'], visits: ['Besuche', 'Visitas'], warnings: ['Warnungen', 'Advertencias'],
	charged_kwh: ['Geladen', 'Cargado'],
};

function of(pair: [string, string] | undefined, otherwise: string): string {
	if (!pair || settings.language === 'en') return otherwise;
	return pair[settings.language === 'de' ? 0 : 1];
}

function among(all: Words, name: string): string | undefined {
	return all[name]?.[settings.language === 'en' ? 0 : settings.language === 'de' ? 1 : 2];
}

export function reportName(name: string, title = ''): string {
	return of(reports[name], title || words(name));
}

export function groupName(name: string): string {
	return among(groups, name) ?? words(name);
}

const units: [end: string, unit: string][] = [
	['_mi_per_kwh', 'mi/kWh'], ['_km_per_kwh', 'km/kWh'], ['_mi_per_gal', 'mpg'], ['_km_per_l', 'km/l'], ['_kmh', 'km/h'], ['_mph', 'mph'],
	['_kwh', 'kWh'], ['_gal', 'gal'], ['_km', 'km'], ['_mi', 'mi'], ['_hours', 'h'], ['_l', 'l'], ['_id', ''], ['_s', ''],
];

/** What stands above a figure: its name in words, and its unit. */
export function figureName(name: string): string {
	const whole = among(short, name) ?? of(figures[name], '');
	if (whole) return whole;
	const unit = units.find(([end]) => name.endsWith(end));
	if (!unit) {
		const cohort = /^(reached|active|billed|retained)_m(\d+)$/.exec(name);
		if (cohort) return `${of({ reached: ['Erreichbar', 'Alcanzables'], active: ['Aktiv', 'Activos'], billed: ['Berechnet', 'Facturado'], retained: ['Geblieben', 'Retenidos'] }[cohort[1] ?? ''] as [string, string], words(cohort[1] ?? ''))}, ${groupName('month')} ${cohort[2]}`;
		return words(name);
	}
	const bare = name.slice(0, -unit[0].length);
	return of(figures[bare], words(bare)) + (unit[1] ? ` (${unit[1]})` : '');
}
