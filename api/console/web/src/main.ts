import { mount } from 'svelte';
import App from './App.svelte';
import './app.css';

// The map is what takes longest to come: it is asked for before the page stands that has it.
if (['', 'map'].includes(location.pathname.split('/')[1] ?? '')) void import('./map/open.svelte').then(({ expectMap }) => expectMap(), () => {});

const target = document.getElementById('app');
if (target) mount(App, { target });
