import { mount } from 'svelte';
import '../app.css';
import SharedPlace from './SharedPlace.svelte';

const target = document.getElementById('app');
if (target) mount(SharedPlace, { target });
